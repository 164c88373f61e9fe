import { setImmediate as nextTurn } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

import { isDamagedBlock, openBlock } from './block-file.ts';

/** Returns all that is wrong with a block, as sentences that name every lost section; empty for an intact file. */
export async function problemsOf(path: string): Promise<string[]> {
  const problems: string[] = [];
  const changed: number[] = [];
  try {
    const block = openBlock(path);
    try {
      if (block.flipped !== undefined) {
        problems.push(
          `its index has a flipped bit at byte ${block.flipped.at}, and is read as it was written`,
        );
      }
      for (let section = 0; section < block.sections; section++) {
        try {
          block.read(section);
        } catch (error) {
          if (isDamagedBlock(error) && error.isChanged) {
            changed.push(section);
          } else {
            problems.push(`section ${section} cannot be read: ${whatOf(error)}`);
          }
        }
        await nextTurn();
      }
      if (changed.length > 0) {
        problems.push(changedText(changed));
      }
    } finally {
      block.close();
    }
  } catch (error) {
    problems.push(whatOf(error));
  }
  return problems;
}

const whatOf = (error: unknown): string => (isDamagedBlock(error) ? error.what : messageOf(error));

/** Names sections, those in a row as a range: a block may have thousands. */
function changedText(sections: readonly number[]): string {
  const starts = sections.filter((section, i) => section !== (sections[i - 1] ?? -2) + 1);
  const ends = sections.filter((section, i) => section !== (sections[i + 1] ?? -2) - 1);
  const ranges = starts.map((start, i) => (start === ends[i] ? `${start}` : `${start}-${ends[i]}`));
  return sections.length === 1
    ? `section ${ranges.join()} does not hold what was written`
    : `sections ${ranges.join(', ')} do not hold what was written`;
}
