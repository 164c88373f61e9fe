import { moment } from '../../text/format.ts';
import { type Line, millisOf } from './line.ts';

/** When a line was written, to the millisecond. */
export function LineTime({ line }: { readonly line: Line }) {
  const at = millisOf(line);
  return (
    <time dateTime={new Date(at).toISOString()}>
      {moment(at, Date.now())}.{String(at % 1000).padStart(3, '0')}
    </time>
  );
}
