/** How many letters are to be changed, added or left out to make one text of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_each, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let index = 1; index <= other.length; index += 1) {
      const same = (row[index - 1] ?? 0) + (other[index - 1] === letter ? 0 : 1);
      next.push(Math.min(same, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** The known name that somebody has probably meant who wrote another; undefined: none is near. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  const text = written.toLowerCase();
  const most = Math.ceil(text.length / 5);
  if (text.length > 40) return undefined;
  const [nearest] = known
    .filter((name) => Math.abs(name.length - text.length) <= most)
    .map((name) => ({ name, off: distance(text, name.toLowerCase()) }))
    .sort((one, other) => one.off - other.off);
  return nearest && nearest.off <= most ? nearest.name : undefined;
}
