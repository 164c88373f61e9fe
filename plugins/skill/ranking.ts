import type { Tool } from 'svc/contracts/skill';

type Ranked = Pick<Tool, 'key' | 'name' | 'description'>;

const most = 8;
/** Weights: a word of the name counts more than one of the description. */
const [named, told] = [2, 1];
/** Words that say nothing about a tool. */
const common = new Set(
  'a all an and any are as at be by can do does every for from have how i in into is it its me my of on or please show that the their there this to was what when which with within'.split(
    ' ',
  ),
);
/** Synonyms that people, models and tools use, without endings; the first represents all. */
const families = [
  ['search', 'find', 'look', 'lookup'],
  ['list', 'enumerat'],
  ['creat', 'mak', 'mad', 'add', 'new', 'send', 'post'],
  ['delet', 'remov', 'destroy'],
  ['devic', 'machin', 'host', 'server', 'comput'],
  ['silenc', 'mut', 'snooz'],
  ['notify', 'tell'],
  ['restart', 'reboot'],
  ['templat', 'kind', 'pattern'],
  ['promql', 'prometheu'],
];
const heads: ReadonlyMap<string, string> = new Map(
  families.flatMap(([head, ...others]) => others.map((word) => [word, head!] as const)),
);

/**
 * Ranks tools by how well they match a question: by the rarity and number of shared words. Those
 * that share none are dropped.
 */
export function ranked<T extends Ranked>(query: string, tools: readonly T[]): readonly T[] {
  const texts = tools.map((tool) => ({
    tool,
    names: wordsOf(`${tool.key} ${tool.name}`),
    says: wordsOf(tool.description),
  }));
  const wanted = [...wordsOf(query)];
  const rarity = new Map(
    wanted.map((word) => {
      const holders = texts.filter(({ names, says }) => names.has(word) || says.has(word)).length;
      return [word, Math.log(1 + texts.length / (1 + holders))];
    }),
  );
  return texts
    .map(({ tool, names, says }) => {
      const shared = wanted.filter((word) => names.has(word) || says.has(word));
      const sum = shared.reduce(
        (total, word) => total + rarity.get(word)! * (names.has(word) ? named : told),
        0,
      );
      return { tool, score: sum * (1 + shared.length / Math.max(1, wanted.length)) };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.key < b.tool.key ? -1 : 1))
    .slice(0, most)
    .map(({ tool }) => tool);
}

/** Returns the words in lower case, without endings. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 1 && !common.has(word))
      .map(stem)
      .map((word) => heads.get(word) ?? word),
  );

/** `searches`, `searching` and `search` meet, and so do `evaluate` and `evaluated`. */
function stem(word: string): string {
  const bare =
    word.length > 3
      ? word
          .replace(/ies$/, 'y')
          .replace(/(?<=[sxz]|[cs]h)es$/, '')
          .replace(/(?<!s)s$/, '')
      : word;
  const root = bare.length > 4 ? bare.replace(/(?<=.{3})(?:ing|ed)$/, '') : bare;
  return root.replace(/(?<=.{2})e$/, '');
}
