import { Status, type Tone } from '../../kit/status.tsx';
import type { Call } from './run.ts';

const toneOf = (status: string): Tone =>
  status === 'ok'
    ? 'ok'
    : status === 'running'
      ? 'info'
      : status === 'denied' || status === 'refused'
        ? 'warning'
        : 'critical';

const longestAsked = 160;

/** Returns what a call asked for, in a line. */
function askedWith(given: Readonly<Record<string, unknown>>): string {
  const line = Object.entries(given)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  return line.length > longestAsked ? `${line.slice(0, longestAsked)}…` : line;
}

/** Tool calls of an agent with their results, collapsed by default. */
export function Calls({ of }: { readonly of: readonly Call[] }) {
  return (
    <>
      {of.map(({ id, name, arguments: given, status, result_preview: result }) => (
        <details key={id} class="call">
          <summary>
            <Status tone={toneOf(status)}>
              <code>{name}</code> <span class="soft">{askedWith(given)}</span>
            </Status>
          </summary>
          <pre class="code">{result}</pre>
        </details>
      ))}
    </>
  );
}
