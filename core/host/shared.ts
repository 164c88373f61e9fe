/** What hosts lend to plugins, each by its own table of modules; everything else a plugin uses is bundled into it. */
export const lentNames = ['svc/sdk', 'svc/thread', 'ajv', 'jsonwebtoken', 'kysely', 're2js', 'semver', 'ssh2', 'typebox', 'ws', 'yaml'] as const;

/** Modules the host lends to plugins, by the name they are imported by. */
export type SharedModules = ReadonlyMap<string, object>;

/** Stands in for a module that is only loaded when a plugin imports it. */
class LentLater {
  readonly load: () => Promise<object>;

  constructor(load: () => Promise<object>) {
    this.load = load;
  }
}

export const lentLater = (load: () => Promise<object>): object => new LentLater(load);

/** What is lent to this one text, which loads at once: of the modules that come later, those that it requires. */
export async function lentTo(code: string, shared: SharedModules): Promise<SharedModules> {
  const lent = new Map([...shared].filter(([, module]) => !(module instanceof LentLater)));
  for (const [, name] of code.matchAll(/\brequire\(["']([^"'\n]+)["']\)/g)) {
    const module = shared.get(name!);
    if (module instanceof LentLater && !lent.has(name!)) {
      lent.set(name!, await module.load());
    }
  }
  return lent;
}
