/** A dashboard panel as the API answers it. */

export type State = 'ok' | 'warning' | 'critical';
export type Point = readonly [number, string];

export interface Reading {
  readonly formatted: string;
  readonly state?: State;
  readonly color?: string;
}

/** Style of a series, or of the panel as a whole. */
export interface Settings {
  readonly unit?: string;
  readonly decimals?: number;
  readonly draw?: 'line' | 'bars' | 'points';
  readonly fill?: number;
  readonly line_width?: number;
  readonly line_style?: 'solid' | 'dash' | 'dot';
  readonly steps?: boolean;
  readonly connect?: boolean;
  readonly stacking?: 'none' | 'normal' | 'percent';
  readonly negate?: boolean;
  readonly axis?: 'left' | 'right' | 'hidden';
  readonly axis_label?: string;
  readonly log?: number;
  readonly min?: number;
  readonly max?: number;
  readonly color?: string;
  readonly hidden?: boolean;
  readonly cell?: 'text' | 'background' | 'gauge';
  readonly thresholds_drawn?: 'line' | 'area' | 'none';
  readonly mappings?: readonly Mapping[];
}

export interface Mapping {
  readonly value?: string;
  readonly from?: number;
  readonly to?: number;
  readonly text?: string;
  readonly color?: string;
}

export interface Display extends Settings {
  readonly legend?: {
    readonly mode?: 'list' | 'table' | 'hidden';
    readonly placement?: 'bottom' | 'right';
    readonly calcs?: readonly string[];
  };
  readonly background?: boolean;
  readonly colorless?: boolean;
  readonly text?: 'auto' | 'value' | 'name' | 'value_and_name' | 'none';
  readonly orientation?: 'horizontal' | 'vertical';
  readonly donut?: boolean;
}

export interface Threshold {
  readonly value: number | null;
  readonly state: State;
  readonly color?: string;
}

export interface MatrixSeries {
  readonly name: string;
  readonly settings?: Settings;
  readonly values: readonly Point[];
  readonly last?: Reading & { readonly value: Point };
}

export interface Sample extends Reading {
  readonly name: string;
  readonly settings?: Settings;
  readonly value: Point;
  readonly points?: readonly Point[];
}

export interface Stream {
  readonly name: string;
  readonly values: readonly (readonly [string, string])[];
}

export type Result =
  | { readonly result_type: 'matrix'; readonly result: readonly MatrixSeries[] }
  | { readonly result_type: 'vector'; readonly result: readonly Sample[] }
  | { readonly result_type: 'streams'; readonly result: readonly Stream[] };

export interface Sheet {
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'time' | 'number' | 'string';
    readonly settings?: Settings;
  }[];
  readonly rows: readonly (readonly {
    readonly text: string;
    readonly value?: number;
    readonly state?: State;
    readonly color?: string;
  }[])[];
}

export interface PanelLink {
  readonly title: string;
  readonly dashboard: string;
}

export interface Panel {
  /** Null for one that a plugin brings: it is not changed here. */
  readonly id: number | null;
  readonly title: string;
  readonly type: string;
  readonly query: string;
  readonly expanded_query?: string;
  readonly description?: string;
  readonly legend: string;
  readonly unit: string;
  readonly thresholds: readonly Threshold[];
  readonly position: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly queries?: readonly {
    readonly ref: string;
    readonly query: string;
    readonly legend?: string;
  }[];
  readonly display?: Display;
  readonly mappings?: readonly Mapping[];
  readonly content?: { readonly mode: 'markdown' | 'html' | 'code'; readonly text: string };
  /** Other dashboards that the panel leads to. */
  readonly links?: readonly PanelLink[];
  readonly row?: number;
  readonly folded?: boolean;
  readonly data: Result;
  readonly table?: Sheet;
  readonly series_left_out?: number;
  readonly warnings?: readonly string[];
  readonly error?: { readonly message: string };
  readonly missing?: { readonly message: string };
}

export interface Variable {
  readonly name: string;
  readonly title: string;
  readonly type: string;
  readonly texts?: readonly string[];
  readonly hide?: 'label' | 'variable';
  readonly multi: boolean;
  readonly all: boolean;
  readonly value: readonly string[];
  readonly values: readonly string[];
  readonly error?: { readonly message: string };
}

/** A dashboard with its data. */
export interface Rendered {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly variables: readonly Variable[];
  readonly panels: readonly Panel[];
}

/** Returns the color of a reading, as CSS. */
export const colorOf = ({ color, state }: Pick<Reading, 'color' | 'state'>): string | undefined =>
  color ?? (state === undefined || state === 'ok' ? undefined : `var(--${state})`);

/** Returns the text and color of a value by its mapping, or by the threshold that it reaches. */
export function shownAs(
  value: number,
  { mappings = [], thresholds }: Panel,
): { readonly text?: string; readonly color?: string } {
  const mapping = mappings.find(
    (one) =>
      (one.value !== undefined && Number(one.value) === value && one.value !== '') ||
      (one.value === undefined &&
        (one.from !== undefined || one.to !== undefined) &&
        value >= (one.from ?? -Infinity) &&
        value <= (one.to ?? Infinity)),
  );
  const step = thresholds.findLast((one) => one.value === null || value >= one.value);
  const color =
    mapping?.color ??
    step?.color ??
    (thresholds.length === 0 ? undefined : `var(--${step?.state ?? 'ok'})`);
  return {
    ...(mapping?.text !== undefined && { text: mapping.text }),
    ...(color !== undefined && { color }),
  };
}
