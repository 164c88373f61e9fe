import type { Tool } from './contract.ts';

const most = 8;
/** Words that say nothing about a tool. */
const common = new Set('a an and any are as at by can do does for from how in into is it me my of on or show that the this to what which with'.split(' '));

/** The tools that fit a question in words best, by how rare the words are that they share; those that share none are left out. */
export function ranked(query: string, tools: readonly Tool[]): readonly Tool[] {
  const texts = tools.map((tool) => ({ tool, named: wordsOf(`${tool.key} ${tool.name}`), told: wordsOf(tool.description) }));
  const wanted = [...wordsOf(query)];
  const rarity = new Map(
    wanted.map((word) => {
      const holders = texts.filter(({ named, told }) => named.has(word) || told.has(word)).length;
      return [word, Math.log(1 + texts.length / (1 + holders))];
    }),
  );
  return texts
    .map(({ tool, named, told }) => ({
      tool,
      score: wanted.reduce((sum, word) => sum + rarity.get(word)! * (named.has(word) ? 2 : told.has(word) ? 1 : 0), 0),
    }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.key < b.tool.key ? -1 : 1))
    .slice(0, most)
    .map(({ tool }) => tool);
}

/** Lower case, without the endings of plurals. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^a-z\d]+/)
      .filter((word) => word.length > 1 && !common.has(word))
      .map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, '') : word)),
  );
