const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Blocks of code, whose text stays as it is; one that is not closed goes to the end. */
const code = /^\s{0,3}(`{3,}|~{3,})([\w+-]*)[^\n`]*\n([\s\S]*?)(?:\n\s{0,3}\1\s*$|$(?![\s\S]))/gm;

/** Converts the markdown of models to the HTML of Telegram, which knows no tables, headings or lists. */
export function telegramHtml(text: string): string {
  let made = '';
  let from = 0;
  for (const found of text.matchAll(code)) {
    made += prose(text.slice(from, found.index)) + preformatted(found[3]!, found[2]!);
    from = found.index + found[0].length;
  }
  return made + prose(text.slice(from));
}

const preformatted = (lines: string, language: string): string =>
  language === ''
    ? `<pre>${escaped(lines)}</pre>`
    : `<pre><code class="language-${language}">${escaped(lines)}</code></pre>`;

/** A table is readable only where every character is as wide as the others. */
const table = /(?:^\|.*\|[ \t]*(?:\n|$(?![\s\S]))){2,}/gm;

const prose = (text: string): string => {
  let made = '';
  let from = 0;
  for (const found of text.matchAll(table)) {
    made += marked(text.slice(from, found.index));
    made += `${preformatted(aligned(found[0]), '')}\n`;
    from = found.index + found[0].length;
  }
  return made + marked(text.slice(from));
};

/** Characters, not the halves of which some consist. */
const widthOf = (text: string): number => Array.from(text).length;

/** Pads the cells of a table to the width of their column. */
function aligned(lines: string): string {
  const rows = lines
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll(/\*\*|`/g, '')),
    )
    .filter((cells) => !cells.every((cell) => /^:?-+:?$/.test(cell)));
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((cells) => widthOf(cells[column] ?? ''))),
  );
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell + ' '.repeat((widths?.[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Marks within a line. What is between backticks is left alone. */
const marked = (text: string): string =>
  text
    .split(/(`[^`\n]+`)/)
    .map((piece, index) =>
      index % 2 === 1
        ? `<code>${escaped(piece.slice(1, -1))}</code>`
        : escaped(piece)
            .replaceAll(/^#{1,6} +(.+?)\s*$/gm, (_all, title: string) => `<b>${bare(title)}</b>`)
            .replaceAll(/^(\s*)[-*+] +/gm, '$1• ')
            .replaceAll(/\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*/g, '<b>$1</b>')
            .replaceAll(
              /(?<![*\p{L}\p{N}])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![*\p{L}\p{N}])/gu,
              '<i>$1</i>',
            )
            .replaceAll(
              /(?<![\p{L}\p{N}_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])/gu,
              '<i>$1</i>',
            )
            .replaceAll(/\[([^\]\n]{1,200})\]\((https?:[^)\s]+)\)/g, '$1 ($2)'),
    )
    .join('');

/** A heading is bold as a whole. */
const bare = (title: string): string => title.replaceAll('**', '');
