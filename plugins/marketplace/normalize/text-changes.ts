import type { PackFiles } from '../archive/entry-list.ts';

const maxTold = 1_000;
const maxLines = 60;
/** Longer texts are compared as a whole beyond their common beginning and end. */
const maxCompared = 400;
const longestLine = 300;

/** Returns the lines that an update changes in texts that people and models read: the file, then + or -, then the line. */
export function textChanges(before: PackFiles, after: PackFiles): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => /\.(?:md|txt|ya?ml|json)$/.test(path))
    .toSorted()
    .flatMap((path) =>
      shortened(changedLines(linesOf(before.get(path)), linesOf(after.get(path)))).map(
        (line) => `${path}: ${line}`,
      ),
    )
    .slice(0, maxTold);
}

const linesOf = (bytes: Uint8Array | undefined): readonly string[] =>
  bytes === undefined ? [] : Buffer.from(bytes).toString('utf8').replace(/\n$/, '').split('\n');

function shortened(lines: readonly string[]): readonly string[] {
  // A stranger's text: nothing in it moves a terminal or hides.
  const plain = lines
    .slice(0, maxLines)
    .map((line) =>
      line
        .slice(0, longestLine)
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`),
    );
  return lines.length <= maxLines
    ? plain
    : [...plain, `… and ${lines.length - maxLines} more changed lines`];
}

function changedLines(old: readonly string[], next: readonly string[]): readonly string[] {
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) {
    start += 1;
  }
  let end = 0;
  while (
    end < old.length - start &&
    end < next.length - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  ) {
    end += 1;
  }
  const [gone, come] = [old.slice(start, old.length - end), next.slice(start, next.length - end)];
  return gone.length > maxCompared || come.length > maxCompared
    ? [...gone.map((line) => `- ${line}`), ...come.map((line) => `+ ${line}`)]
    : compared(gone, come);
}

/** The shortest list of lines to remove and add, by the longest common subsequence. */
function compared(old: readonly string[], next: readonly string[]): readonly string[] {
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(next.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = next.length - 1; j >= 0; j -= 1) {
      common[i]![j] =
        old[i] === next[j]
          ? common[i + 1]![j + 1]! + 1
          : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: string[] = [];
  for (let i = 0, j = 0; i < old.length || j < next.length;) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      i += 1;
      j += 1;
    } else if (j === next.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`- ${old[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${next[j]}`);
      j += 1;
    }
  }
  return lines;
}
