import { Store } from './store.ts';

type Words = Readonly<Record<string, string>>;

/** Everything the page says, by area and key: English as it is written in the code, and what stands in its place in another language. */
const english = new Map<string, Words>();
const translations = new Store<Readonly<Record<string, Words>>>({});

/** The words of one area. A key that the language in force does not have is English. */
export function words<T extends Words>(area: string, own: T): T {
  english.set(area, own);
  return new Proxy(own, {
    get: (target, key: string) => translations.value[area]?.[key] ?? target[key],
  });
}

/** A sentence with its gaps filled: `say(text.found, { count: 3 })` for "{count} devices". */
export const say = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (gap, name: string) => (name in values ? String(values[name]) : gap));

/** One or many: the sentence is "one device|{count} devices". */
export function count(sentence: string, number: number): string {
  const [one = '', many = one] = sentence.split('|');
  return say(number === 1 ? one : many, { count: number.toLocaleString() });
}

export const useLanguage = (texts: Readonly<Record<string, Words>>): void => translations.set(texts);

/** For whoever translates: all words that the loaded pages have. */
export const allWords = (): Readonly<Record<string, Words>> => Object.fromEntries(english);
