import { address } from '../../../browser/location.ts';
import { Time } from '../../../kit/time.tsx';
import { headOf, Scrolling } from './scrolling.tsx';
import { colorOf, type Sheet } from './shape.ts';

const isTraceId = (text: string): boolean => /^[0-9a-f]{16,32}$/i.test(text);

interface RowsProps {
  readonly title: string;
  readonly table: Sheet;
  readonly height: number;
}

/** Traces, newest first; each leads to its page by the id in its last cell. */
export const TraceRows = ({ title, table: { columns, rows }, height }: RowsProps) => (
  <Scrolling title={title} height={height} heads={columns.slice(0, -1).map(headOf)}>
    {rows.map((row, at) => {
      const id = row.at(-1)?.text ?? '';
      return (
        <tr key={`${id} ${at}`}>
          {row.slice(0, -1).map((cell, column) => {
            const { name, type } = columns[column]!;
            return (
              <td
                key={name}
                class={type === 'number' ? 'num' : 'cut'}
                style={{ color: colorOf(cell) }}
              >
                {type === 'time' ? (
                  <Time at={cell.text} />
                ) : column === nameColumn && isTraceId(id) ? (
                  <a href={address(['traces', id])}>{cell.text}</a>
                ) : (
                  cell.text
                )}
              </td>
            );
          })}
        </tr>
      );
    })}
  </Scrolling>
);

/** Place of the name of a trace among the columns. */
const nameColumn = 2;
