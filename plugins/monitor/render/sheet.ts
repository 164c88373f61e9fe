import type { FieldSettings } from '../model/drawing.ts';
import { type Cell, type Field, type Frame, rowsIn } from '../frames/frame.ts';
import type { PanelBody } from '../model/panel.ts';
import type { State } from '../model/thresholds.ts';
import { formatted } from '../model/units.ts';
import { mappingOf, readingOf, renamed, settingsFor } from './settings.ts';

interface SheetCell {
  readonly text: string;
  readonly value?: number;
  readonly state?: State;
  readonly color?: string;
}

/** A table that is ready to be drawn. */
export interface Sheet {
  readonly columns: {
    readonly name: string;
    readonly type: Field['type'];
    readonly settings?: FieldSettings;
  }[];
  readonly rows: SheetCell[][];
}

const mostRows = 500;

/** Returns a frame as a table of texts, without its hidden columns. */
export function sheetOf(frame: Frame, panel: PanelBody): Sheet {
  const columns = frame.fields.flatMap((field) => {
    const chosen = {
      ...field,
      values: () => field.values.map((cell) => (typeof cell === 'number' ? cell : null)),
      ref: frame.ref,
    };
    const settings = settingsFor(panel, chosen);
    return settings?.hidden === true
      ? []
      : [{ field, name: renamed(field, settings), ...(settings && { settings }) }];
  });
  const rows = Math.min(mostRows, rowsIn(frame));
  return {
    columns: columns.map(({ field, name, settings }) => ({
      name,
      type: field.type,
      ...(settings && { settings }),
    })),
    rows: Array.from({ length: rows }, (_, row) =>
      columns.map(({ field, settings }) =>
        cellOf(field.values[row] ?? null, field.type, panel, settings),
      ),
    ),
  };
}

function cellOf(
  cell: Cell,
  type: Field['type'],
  panel: PanelBody,
  settings: FieldSettings | undefined,
): SheetCell {
  const mapping = mappingOf(cell, settings?.mappings ?? panel.mappings ?? []);
  if (typeof cell === 'number' && type === 'number') {
    const { formatted: text, ...rest } = readingOf(cell, panel, settings);
    return { text, value: cell, ...rest };
  }
  const shown = typeof cell === 'number' ? formatted(cell, 'date') : (cell ?? '');
  return {
    text: mapping?.text ?? shown,
    ...(mapping?.color !== undefined && { color: mapping.color }),
  };
}
