type Words = Readonly<Record<string, string>>;

/** Texts by area and key. */
export type Texts = Readonly<Record<string, Words>>;

/** Everything the console says: English from `english/`, and what replaces it in another language. */
const english = new Map<string, Words>();
let translated: Texts = {};
let sentences: ReadonlySet<string> = new Set();
let language = 'en';

/** The words of one area. A key that the language in force does not have is English. */
export function words<T extends Words>(area: string, own: T): T {
  english.set(area, own);
  return new Proxy(own, {
    get: (target, key: string) => translated[area]?.[key] ?? target[key],
  });
}

/** A sentence with its gaps filled: `say(text.found, { count: 3 })` for "{count} devices". */
export const say = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (gap, name: string) =>
    name in values ? String(values[name]) : gap,
  );

const kinds = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

/** One or many: "one device|{count} devices". Another language has as many forms as it tells numbers apart, in this order of their kinds. */
export function count(sentence: string, number: number): string {
  const rules = new Intl.PluralRules(sentences.has(sentence) ? language : 'en');
  const told = kinds.filter((kind) => rules.resolvedOptions().pluralCategories.includes(kind));
  const forms = sentence.split('|');
  const form = forms[Math.min(told.indexOf(rules.select(number)), forms.length - 1)]!;
  return say(form, { count: number.toLocaleString() });
}

/** Switches the page to another language, as far as texts are available. */
export function translate(tag: string, texts: Texts): void {
  language = tag;
  translated = texts;
  sentences = new Set(Object.values(texts).flatMap((area) => Object.values(area)));
}

/** Returns all texts of the loaded pages, for translation. */
export const allWords = (): Texts => Object.fromEntries(english);
