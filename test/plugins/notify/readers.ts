/** Function that finds what a platform would make of a text besides words, each by its kind. */
export type Reader = (text: string) => readonly string[];

/**
 * Returns the first problem in a message's text: a mention, a change of direction, a lone
 * surrogate.
 */
export function troubleIn(text: string): string | undefined {
  const troubles: readonly (readonly [string, RegExp])[] = [
    ['it calls people', /(?<![\p{L}\p{N}])@(?=[\p{L}\p{N}])|<(?:!|@|#)|<\/?at\b/iu],
    ['it holds characters that control', /(?!\n)\p{Cc}|[\u2028\u2029]/u],
    ['it turns around', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
    ['it holds half a character', /\p{Cs}/u],
  ];
  const found = troubles.find(([, form]) => form.test(text));
  return (
    found &&
    `${found[0]} at ${JSON.stringify(text.slice(Math.max(0, text.search(found[1]) - 40)).slice(0, 90))}`
  );
}

const all = (text: string, form: RegExp): string[] =>
  [...text.matchAll(form)].map(([found]) => found);

/** Titles of ours are bold, and so are the names of facts; the words in them are not what is compared. */
const emphasis = (text: string, marks: string): string[] =>
  [
    ...text.matchAll(
      new RegExp(
        `(?<![\\p{L}\\p{N}\\\\])(${marks})(?=\\S)([^\\n]*?\\S)\\1(?![\\p{L}\\p{N}])`,
        'gu',
      ),
    ),
  ].map(
    ([, mark, inside]) =>
      `${mark}${/^(?:<font[^>]*>)?\[FIRING\]/.test(inside!) ? 'title' : inside}`,
  );

/** `mrkdwn`, as Slack reads it. */
export const slackReader: Reader = (text) => [
  ...all(text, /<[^>]*>/g),
  ...emphasis(text, '[*_~`]'),
  ...all(text, /^(?:&gt;|>)/gm).map(() => 'a quotation'),
  ...all(text, /&(?!amp;|lt;|gt;)/g),
];

/** Markdown as chat platforms read it. */
export const markdownReader: Reader = (text) => [
  ...all(text, /<[^>]+>/g),
  ...all(text, /!?\[[^\]\n]*\]\([^)\n]*\)/g),
  ...all(text, /!?\[[^\]\n]*\]\[[^\]\n]*\]/g),
  ...all(text, /^(?:> )?\[[^\]\n]*\]:/gm),
  ...emphasis(text, '\\*{1,3}|_{1,3}|~~|`+'),
  ...all(text, /^(?:> )?#{1,6}(?= )/gm),
  ...all(text, /^(?:> )?[-+*](?= )/gm),
  ...all(text, /^(?:> )?(?:-{3,}|={3,}|\*{3,}|_{3,})\s*$/gm),
];

/** HTML, as Telegram and programs of mail read it. */
export const htmlReader: Reader = (text) => [
  ...all(text, /<[^>]*>/g),
  ...all(text, /&(?!amp;|lt;|gt;|quot;)/g),
];

export const plainReader: Reader = () => [];

/** Returns what exceeds the allowed. */
export function beyond(found: readonly string[], allowed: readonly string[]): readonly string[] {
  const left = [...allowed];
  return found.filter((one) => {
    const at = left.indexOf(one);
    left.splice(at, at === -1 ? 0 : 1);
    return at === -1;
  });
}
