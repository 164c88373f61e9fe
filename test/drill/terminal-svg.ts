/** A line of output, and when it came. */
export interface Cue {
  readonly afterMs: number;
  readonly text: string;
}

const columns = 110;
const [charWidth, lineHeight, margin] = [8, 20, 16];
/** Longer waits are shortened: a reader wants to see the order, not to wait. */
const longestPauseMs = 1_800;
const shortestPauseMs = 350;
/** Time that the last picture stays before all begins again. */
const restMs = 7_000;

/** Draws output as a terminal that fills line by line, as an animated SVG without a script. */
export function terminalSvg(cues: readonly Cue[]): string {
  let at = 0;
  const lines = cues.flatMap(({ text, afterMs }, index) => {
    const pause = afterMs - (cues[index - 1]?.afterMs ?? 0);
    at += Math.min(Math.max(pause, shortestPauseMs), longestPauseMs);
    return wrapped(text).map((part) => ({ part, at }));
  });
  const wholeMs = at + restMs;
  const height = lines.length * lineHeight + 2 * margin;
  const width = columns * charWidth + 2 * margin;
  const rows = lines.map(
    ({ part, at: shownAt }, row) =>
      `<text x="${margin}" y="${margin + (row + 1) * lineHeight - 5}" class="l"` +
      ` style="animation-name:s${shownAt}"${row === 0 ? ' fill="#7ee787"' : ''}>${escaped(part)}</text>`,
  );
  const frames = [...new Set(lines.map(({ at: shownAt }) => shownAt))].map((shownAt) => {
    const percent = ((shownAt / wholeMs) * 100).toFixed(2);
    return `@keyframes s${shownAt}{0%,${percent}%{opacity:0}${(Number(percent) + 0.01).toFixed(2)}%,100%{opacity:1}}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Output of svc demo">
<style>
.l{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;animation-duration:${wholeMs}ms;animation-timing-function:step-end;animation-iteration-count:infinite}
${frames.join('\n')}
@media (prefers-reduced-motion:reduce){.l{animation:none}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3">
${rows.join('\n')}
</g>
</svg>
`;
}

/** Splits a line at spaces, as far as it has some; what continues is indented. */
function wrapped(text: string): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    const end = space > columns / 2 ? space : columns;
    parts.push(rest.slice(0, end));
    rest = `         ${rest.slice(end).trimStart()}`;
  }
  return [...parts, rest];
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
