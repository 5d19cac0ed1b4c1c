type Colour = readonly [red: number, green: number, blue: number];

/** Cards and pages of the two themes, as `style/console.css` has them; and where a colour goes to be legible. */
const grounds = {
  light: { behind: ['#f3f5f9', '#ffffff', '#e3eafc'], towards: [0, 0, 0] },
  dark: { behind: ['#0f1420', '#1a2131', '#27345a'], towards: [255, 255, 255] },
} as const;

/** WCAG 2.2, 1.4.3. */
const contrastMin = 4.5;

const partsOf = (hex: string): Colour => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
};

const hexOf = (colour: Colour): string =>
  `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance, as WCAG defines it. */
function luminanceOf(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrastOf(one: string, other: string): number {
  const [a, b] = [luminanceOf(partsOf(one)), luminanceOf(partsOf(other))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** A colour as it is given, or as little darker or lighter as makes it legible in a theme. */
function legible(hex: string, theme: keyof typeof grounds): string {
  const { behind, towards } = grounds[theme];
  const given = partsOf(hex);
  for (let step = 0; step < 100; step += 1) {
    const mixed = hexOf(
      given.map((part, at) =>
        Math.round(part + (((towards[at] ?? 0) - part) * step) / 100),
      ) as unknown as Colour,
    );
    if (behind.every((ground) => contrastOf(mixed, ground) >= contrastMin)) return mixed;
  }
  return hexOf(towards);
}

/** A tenant's colour as it is used in both themes; undefined: it is none. */
export function accentOf(given: string | null): { light: string; dark: string } | undefined {
  const hex = given?.toLowerCase().replace(/^(?!#)/, '#') ?? '';
  if (!/^#[0-9a-f]{6}$/.test(hex)) return undefined;
  return { light: legible(hex, 'light'), dark: legible(hex, 'dark') };
}
