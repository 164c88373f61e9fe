import { readFileSync } from 'node:fs';

import { parse as parseYaml } from 'yaml';

import { messageOf, SvcError } from '../../sdk/index.ts';

/** `category: { key: value }` of a YAML file as `category.key` → value; a missing file is empty. */
export function readSettingsFile(file: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return values;
    }
    throw new SvcError('invalid_argument', `${file} cannot be read: ${messageOf(error)}`);
  }
  for (const [category, keys] of Object.entries(parseMapping(text, file))) {
    if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) {
      throw new SvcError('invalid_argument', `${file}: "${category}" must be a mapping of keys, such as "${category}:" with indented lines below it`);
    }
    for (const [key, value] of Object.entries(keys)) {
      values.set(`${category}.${key}`, value);
    }
  }
  return values;
}

function parseMapping(text: string, file: string): object {
  let parsed: unknown;
  try {
    parsed = parseYaml(text, { maxAliasCount: 0, schema: 'core' });
  } catch (error) {
    throw new SvcError('invalid_argument', `${file} is not valid YAML: ${messageOf(error).split('\n')[0]}`);
  }
  if (parsed !== null && (typeof parsed !== 'object' || Array.isArray(parsed))) {
    throw new SvcError('invalid_argument', `${file} must be a mapping of categories`);
  }
  return parsed ?? {};
}
