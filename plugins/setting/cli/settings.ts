import { suggestion, Failure, type ApiClient } from 'svc/cli';

/** A setting as `GET /api/v1/system-settings` lists it. */
export interface Setting {
  readonly category: string;
  readonly key: string;
  readonly value: unknown;
  readonly sensitive: boolean;
  readonly source: string;
  readonly schema: { readonly type?: unknown };
  readonly problem?: string;
}

export const listSettings = (client: ApiClient): Promise<readonly Setting[]> =>
  client.list<Setting>('/api/v1/system-settings');

export const nameOf = ({ category, key }: Pick<Setting, 'category' | 'key'>): string =>
  `${category}.${key}`;

export function settingPath(name: string, verb = ''): string {
  const [category = '', ...key] = name.split('.');
  return `/api/v1/system-settings/${encodeURIComponent(category)}/${encodeURIComponent(key.join('.'))}${verb === '' ? '' : `/${verb}`}`;
}

export async function findSetting(client: ApiClient, name: string): Promise<Setting> {
  const settings = await listSettings(client);
  const found = settings.find((setting) => nameOf(setting) === name);
  if (!found) {
    throw new Failure(
      4,
      'not_found',
      `there is no setting "${name}"${suggestion(name, settings.map(nameOf)) || '; "svc setting list" shows all settings'}`,
    );
  }
  return found;
}

/** Text stays text; a list may be typed with commas, as in the environment; everything else is JSON. */
export function typedValue(text: string, { schema: { type } }: Setting): unknown {
  if (type === 'string') {
    return text;
  }
  if (type === 'array' && !text.trimStart().startsWith('[')) {
    return text === '' ? [] : text.split(',').map((item) => item.trim());
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A word such as `debug`; what it may not be, svc says.
    return text;
  }
}

export const shownValue = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
