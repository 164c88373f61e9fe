/** Words that stand in any question. */
const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any anything are as at be because been before being but by can cannot could did do does doing done
   for from get give go got had has have having he help her here hey hi him his how i if in into is it its just know let like look make
   me might more most much must my need no not now of off on once one only or other our out over own please same see shall she should
   show so some somebody something svc tell than thank thanks that the their them then there these they thing this those through to too
   under until up us use very want was we were what when where whether which while who whom whose why will with would yes you your
   someone check still really today currently happen happened happening`.split(/\s+/),
);

/** What a text is about: its words without endings, in their order. */
export const wordsOf = (text: string): readonly string[] => meaningful(text).map(stem);

/** The same once each, with the word as it stood in the text. */
export const familiesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    meaningful(text)
      .toReversed()
      .map((word) => [stem(word), word]),
  );

const meaningful = (text: string): readonly string[] =>
  (
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).filter((word) => !stopWords.has(word) && word.length > 1);

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
  return root.replace(/(?<=.{2})([^aeiouls])\1$/, '$1').replace(/(?<=.{3})e$/, '');
}
