export const matcherOperators = ['=', '!=', '=~', '!~'] as const;

export interface Matcher {
  readonly name: string;
  readonly op: (typeof matcherOperators)[number];
  readonly value: string;
}

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

export interface Recurrence {
  readonly days: readonly Weekday[];
  readonly start: string;
  readonly duration: string;
  readonly time_zone: string;
}

export interface Silence {
  readonly id: number;
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly starts_at: string;
  readonly ends_at: string;
  readonly recurrence?: Recurrence;
  readonly reason: string;
  readonly state: 'pending' | 'active' | 'expired';
  readonly in_force: boolean;
  readonly created_by: string;
}

export const lineOf = ({ name, op, value }: Matcher): string => `${name} ${op} ${value}`;

/** Returns the matchers of an address, one a line; what is none is left out. */
export const matchersOf = (lines: string): readonly Matcher[] =>
  lines.split('\n').flatMap((line) => {
    const [, name, op, value] =
      /^\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*"?(.*?)"?\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined
      ? []
      : [{ name, op: op as Matcher['op'], value }];
  });
