/** Porter's stemmer (1980): words of one family become one. Texts that are not plain English letters stay as they are. */
export function stem(word: string): string {
  const known = remembered.get(word);
  if (known !== undefined) {
    return known;
  }
  if (word.length < 3 || !/^[a-z]+$/.test(word)) {
    return word;
  }
  const made = irregular.get(word) ?? steps(word);
  if (remembered.size >= maxRemembered) {
    remembered.clear();
  }
  remembered.set(word, made);
  return made;
}

/** Texts repeat their words: with this most of them cost a look-up. */
const maxRemembered = 50_000;
const remembered = new Map<string, string>();

/** Words of operations that the rules would part from their family, or join with another one. */
const irregular: ReadonlyMap<string, string> = new Map(
  Object.entries({
    full: 'full',
    slower: 'slow',
    slowest: 'slow',
    faster: 'fast',
    higher: 'high',
    larger: 'larg',
    bigger: 'big',
    lower: 'low',
    older: 'old',
    newer: 'new',
    later: 'late',
    longer: 'long',

    fills: 'fill',
    died: 'die',
    dies: 'die',
    dying: 'die',
    ran: 'run',
    running: 'run',
    slept: 'sleep',
    lost: 'lose',
    loses: 'lose',
    losing: 'lose',
    stuck: 'stick',
    broke: 'break',
    broken: 'break',
    news: 'news',
    dns: 'dns',
    tls: 'tls',
    ios: 'ios',
    status: 'status',
    bus: 'bus',
    redis: 'redis',
    this: 'this',
    always: 'always',
    logs: 'log',
    logged: 'log',
    logging: 'log',
    policies: 'policy',
    policy: 'policy',
    written: 'write',
    wrote: 'write',
    froze: 'freeze',
    frozen: 'freeze',
    kept: 'keep',
    grew: 'grow',
    grown: 'grow',
    took: 'take',
    taken: 'take',
    went: 'go',
    gone: 'go',
    sent: 'send',
  }),
);

const has = /[aeiou]|(?<=[^aeiou])y/;
const double = /([^aeiouylsz])\1$/;
const cvc = /[^aeiou][aeiouy][^aeiouwxy]$/;

/** Counts how often consonants follow vowels. */
function measure(text: string): number {
  let count = 0;
  let wasVowel = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    const isVowel: boolean = 'aeiou'.includes(letter) || (letter === 'y' && at > 0 && !wasVowel);
    count += wasVowel && !isVowel ? 1 : 0;
    wasVowel = isVowel;
  }
  return count;
}

const second: readonly (readonly [string, string])[] = [
  ...([
    ['ational', 'ate'],
    ['tional', 'tion'],
    ['enci', 'ence'],
    ['anci', 'ance'],
    ['izer', 'ize'],
    ['abli', 'able'],
    ['alli', 'al'],
    ['entli', 'ent'],
  ] as const),
  ...([
    ['eli', 'e'],
    ['ousli', 'ous'],
    ['ization', 'ize'],
    ['ation', 'ate'],
    ['ator', 'ate'],
    ['alism', 'al'],
    ['iveness', 'ive'],
  ] as const),
  ...([
    ['fulness', 'ful'],
    ['ousness', 'ous'],
    ['aliti', 'al'],
    ['iviti', 'ive'],
    ['biliti', 'ble'],
  ] as const),
];
const third: readonly (readonly [string, string])[] = [
  ...([
    ['icate', 'ic'],
    ['ative', ''],
    ['alize', 'al'],
    ['iciti', 'ic'],
    ['ical', 'ic'],
    ['ful', ''],
    ['ness', ''],
  ] as const),
];
const fourth =
  /(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/;

function steps(word: string): string {
  let text = plural(
    word.length > 5 && word.endsWith('ly') && !/(?:[bp]ly|ely)$/.test(word)
      ? word.slice(0, -2)
      : word,
  );
  text = past(text);
  text = text.endsWith('y') && has.test(text.slice(0, -1)) ? `${text.slice(0, -1)}i` : text;
  text = replaced(text, second);
  text = replaced(text, third);
  const ending = fourth.exec(text)?.[0];
  if (ending !== undefined && measure(text.slice(0, -ending.length)) > 1) {
    text = text.slice(0, -ending.length);
  }
  if (text.endsWith('e')) {
    const rest = text.slice(0, -1);
    const m = measure(rest);
    text = m > 1 || (m === 1 && !cvc.test(rest)) ? rest : text;
  }
  return measure(text) > 1 && text.endsWith('ll') ? text.slice(0, -1) : text;
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) {
    return word.slice(0, -2);
  }
  return word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us')
    ? word.slice(0, -1)
    : word;
}

function past(text: string): string {
  if (text.endsWith('eed')) {
    return measure(text.slice(0, -3)) > 0 ? text.slice(0, -1) : text;
  }
  const rest = text.endsWith('ed')
    ? text.slice(0, -2)
    : text.endsWith('ing')
      ? text.slice(0, -3)
      : undefined;
  if (rest === undefined || !has.test(rest)) {
    return text;
  }
  if (/(?:at|bl|iz)$/.test(rest)) {
    return `${rest}e`;
  }
  return double.test(rest)
    ? rest.slice(0, -1)
    : measure(rest) === 1 && cvc.test(rest)
      ? `${rest}e`
      : rest;
}

function replaced(text: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(([ending]) => text.endsWith(ending));
  if (found === undefined) {
    return text;
  }
  const rest = text.slice(0, -found[0].length);
  return measure(rest) > 0 ? rest + found[1] : text;
}
