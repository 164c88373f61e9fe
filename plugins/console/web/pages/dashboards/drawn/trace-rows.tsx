import { address } from '../../../browser/location.ts';
import { Time } from '../../../kit/time.tsx';
import { colorOf, type Sheet } from './shape.ts';

const isTraceId = (text: string): boolean => /^[0-9a-f]{16,32}$/i.test(text);

interface RowsProps {
  readonly title: string;
  readonly table: Sheet;
  readonly height: number;
}

/** Traces, newest first; each leads to its page by the id in its last cell. */
export const TraceRows = ({ title, table: { columns, rows }, height }: RowsProps) => (
  <div
    class="table scrolls"
    tabIndex={0}
    role="region"
    aria-label={title}
    style={{ height: `${height}px` }}
  >
    <table aria-label={title}>
      <thead>
        <tr>
          {columns.slice(0, -1).map(({ name, type }) => (
            <th key={name} scope="col" class={type === 'number' ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
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
      </tbody>
    </table>
  </div>
);

/** Place of the name of a trace among the columns. */
const nameColumn = 2;
