/** How many characters of each kind a token has at least, nearly always. */
const charactersOfToken = { letter: 5, digit: 2, sign: 2 } as const;

type Kind = keyof typeof charactersOfToken | 'blank' | 'other';

function kindOf(code: number): Kind {
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return 'letter';
  if (code >= 48 && code <= 57) return 'digit';
  if (code === 32) return 'blank';
  return code < 128 ? 'sign' : 'other';
}

/**
 * About how many tokens a language model reads in a text, rather too many than too few: a quarter too
 * many in JSON with ids and amounts. Runs of letters, digits and signs are cut into short pieces; a
 * blank belongs to the word behind it.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let run = 0;
  let previous: Kind = 'blank';
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    run = kind === previous ? run + 1 : 0;
    previous = kind;
    if (kind === 'other') tokens += 2;
    else if (kind !== 'blank' && run % charactersOfToken[kind] === 0) tokens += 1;
  }
  return tokens;
}
