const reference = /\$(?:\$|\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))/g;

/** `$1`, `${1}`, `$name`, `${name}`: an unbraced name is as long as it can be, an unknown one is empty; `$$` is a dollar sign. */
export function expandTemplate(template: string, groups: readonly (string | undefined)[], names: readonly (string | undefined)[]): string {
  return template.includes('$')
    ? template.replace(reference, (whole, braced?: string, bare?: string) => (whole === '$$' ? '$' : named((braced ?? bare)!, groups, names)))
    : template;
}

function named(name: string, groups: readonly (string | undefined)[], names: readonly (string | undefined)[]): string {
  if (/^\d+$/.test(name) && (name === '0' || !name.startsWith('0'))) {
    return groups[Number(name)] ?? '';
  }
  const index = names.indexOf(name);
  return index < 0 ? '' : (groups[index] ?? '');
}
