import { intrinsicTags, type TagNames, type TagValue } from './tags.ts';

const encode = (value: unknown): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(JSON.stringify(value)));

const scopesShown = ['resource', 'span', 'event', 'link', 'instrumentation'] as const;

/** Keys of all scopes together. */
export function tagsJson(names: TagNames, scope?: string): Uint8Array<ArrayBuffer> {
  const wanted = scopesShown.filter((name) => scope === undefined || scope === '' || scope === name);
  const tags = scope === 'intrinsic' ? [...intrinsicTags] : [...new Set(wanted.flatMap((name) => names[name]))].sort();
  return encode({ tagNames: tags, metrics: {} });
}

/** Keys by scope. */
export function tagsJsonByScope(names: TagNames, scope?: string): Uint8Array<ArrayBuffer> {
  const all = [...scopesShown.map((name) => ({ name, tags: names[name] })), { name: 'intrinsic', tags: intrinsicTags }];
  return encode({ scopes: all.filter(({ name, tags }) => (scope === undefined || scope === '' || scope === name) && tags.length > 0), metrics: {} });
}

export const tagValuesJson = (values: readonly TagValue[]): Uint8Array<ArrayBuffer> =>
  encode({ tagValues: [...new Set(values.map(({ value }) => value))].sort(), metrics: {} });

export const typedTagValuesJson = (values: readonly TagValue[]): Uint8Array<ArrayBuffer> => encode({ tagValues: values, metrics: {} });
