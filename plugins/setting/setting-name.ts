/** A setting as its address in the API has it; plugins and files write `category.key`. */
export interface SettingName {
  readonly category: string;
  readonly key: string;
}

export const nameOf = ({ category, key }: SettingName): string => `${category}.${key}`;

/** A category has no dot. */
export function partsOf(name: string): SettingName {
  const dot = name.indexOf('.');
  return { category: name.slice(0, dot), key: name.slice(dot + 1) };
}
