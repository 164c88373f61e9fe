import type { UsersContent, UsersPanel } from './users-dashboard.ts';

/** One thing that differs between two states of a dashboard, in the words of its fields. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  readonly what: 'dashboard' | 'panel' | 'variable';
  readonly name: string;
  readonly fields: readonly FieldDifference[];
}

export interface FieldDifference {
  readonly field: string;
  /** Empty where there was none, or is none. */
  readonly before: string;
  readonly after: string;
}

const longestText = 500;
const nothing: UsersContent = { title: null, variables: [], panels: [] };

/** Returns what was changed from one state to another; undefined stands for no dashboard. */
export function differences(
  before: UsersContent = nothing,
  after: UsersContent = nothing,
): readonly Difference[] {
  const titles = fieldsOf({ title: before.title ?? '' }, { title: after.title ?? '' });
  return [
    ...(titles.length === 0
      ? []
      : [
          {
            kind: 'changed',
            what: 'dashboard',
            name: after.title ?? before.title ?? '',
            fields: titles,
          } as const,
        ]),
    ...itemDifferences('variable', before.variables, after.variables, ({ name }) => name),
    ...itemDifferences('panel', before.panels, after.panels, (panel, at) =>
      String(panel.id ?? `new ${at}`),
    ),
  ];
}

interface Named {
  readonly title?: string;
  readonly name?: string;
}

function itemDifferences<T extends Named>(
  what: 'panel' | 'variable',
  before: readonly T[],
  after: readonly T[],
  keyOf: (item: T, at: number) => string,
): readonly Difference[] {
  const old = new Map(before.map((item, at) => [keyOf(item, at), item]));
  const found: Difference[] = [];
  for (const [at, item] of after.entries()) {
    const key = keyOf(item, at);
    const was = old.get(key);
    old.delete(key);
    const fields = fieldsOf(was ?? {}, item);
    if (was === undefined || fields.length > 0) {
      const isMoved = was !== undefined && fields.every(({ field }) => field === 'position');
      found.push({
        kind: was === undefined ? 'added' : isMoved ? 'moved' : 'changed',
        what,
        name: nameOf(item),
        fields,
      });
    }
  }
  return [
    ...found,
    ...[...old.values()].map((item) => ({
      kind: 'removed' as const,
      what,
      name: nameOf(item),
      fields: fieldsOf(item, {}),
    })),
  ];
}

const nameOf = ({ name, title }: Named): string => name ?? title ?? '';

function fieldsOf(before: object, after: object): readonly FieldDifference[] {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])].flatMap((field) => {
    const [was, is] = [inWords(field, old[field]), inWords(field, fresh[field])];
    return field === 'id' || was === is ? [] : [{ field, before: cut(was), after: cut(is) }];
  });
}

function inWords(field: string, value: unknown): string {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) {
    return '';
  }
  if (field === 'position') {
    const { x, y, w, h } = value as UsersPanel['position'];
    return `column ${x + 1}, row ${y + 1}, ${w} wide, ${h} high`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const cut = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;
