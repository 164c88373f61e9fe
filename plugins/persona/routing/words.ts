/** A word of a text, as it counts for routing. */
export interface Word {
  readonly text: string;
  readonly stem: string;
  /** Less than 1 for a word that only hints at what is asked. */
  readonly weight: number;
}

/** Words that occur in any question. */
const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any anything are as at be because been before being but by can cannot could did do does doing done
   for from get give go got had has have having he help her here hey hi him his how i if in into is it its just know let like look make
   me might more most much must my need no not now of off on once one only or other our out over own please same see shall she should
   show so some somebody something svc tell than thank thanks that the their them then there these they thing this those through to too
   under until up us use very want was we were what when where whether which while who whom whose why will with would yes you your
   someone check still really today currently happen happened happening call calls called calling
   down last first second come comes came few many share begin begins number new old two three five ten made make makes page
   pages machine machines server servers host hosts system systems thing things user users time times take takes took day days
   read reading write writing find finds found work works working keep keeps run runs running low high small big large
   question questions since around between own name named use used using free open missing`.split(
    /\s+/,
  ),
);

/** Weight inside the name of a machine, such as `db-3`: it says where more than what. */
const inName = 0.35;
const machineName = /\b\p{L}[\p{L}\p{N}]*(?:-\p{L}[\p{L}\p{N}]*)*-?\d+\b(?![.:/]\d)/gu;

/** Words that are written as one, such as `OutOfMemory`. */
const humped = /\b[\p{L}\p{N}]*\p{Ll}\p{Lu}[\p{L}\p{N}]*/gu;

/** Returns all words of a text, in order; those of `OutOfMemory` follow the whole of it. */
export function wordsIn(given: string): readonly Word[] {
  const text = given.normalize('NFKC').replaceAll(humped, (whole) => {
    const parts = whole.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    return parts.length > 2 ? `${whole} ${parts.join(' ')}` : whole;
  });
  const lower = text.toLowerCase();
  const names = [...lower.matchAll(machineName)]
    .filter(([name]) => name.includes('-'))
    .map((match) => [match.index, match.index + match[0].length] as const);
  return [...lower.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => ({
    text: word,
    stem: stem(word),
    weight: names.some(([from, to]) => index >= from && index < to) ? inName : 1,
  }));
}

/** Returns whether a word says anything about what is asked. */
export const isMeaningful = ({ text }: Word): boolean => !stopWords.has(text) && text.length > 1;

/** Returns the stemmed words of a text that say anything, in order. */
export const stemsOf = (text: string): readonly string[] =>
  wordsIn(text)
    .filter(isMeaningful)
    .map(({ stem: root }) => root);

const leastStem = 4;

/** Enough of an English ending is taken off for words of one family to meet: `restarts`, `restarted`, `restarting`. */
function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) {
    return word;
  }
  const bare = word
    .replace(/(?:ies)$/, 'y')
    .replace(/(?:sses)$/, 'ss')
    .replace(/(?<=[^su])s$/, '');
  const root = bare.replace(/(?<=.{3})(?:ing|ed|er|or|ion|ions|ly|ment)$/, '');
  const short = root.replace(/(?<=.{2})([^aeiouls])\1$/, '$1').replace(/(?<=.{3})e$/, '');
  // What is left of a short word is left of others as well: `min` of mining and of mined.
  return short.length < leastStem ? bare : short;
}
