import type { PackFiles } from '../archive/entry-list.ts';
import { names, readForeign, written } from './foreign-header.ts';
import { freeName, textOf } from './pack-form.ts';

const camelToSnake = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Keys of a Claude agent that have another name or meaning here; all others are kept as they came. */
const notTaken: ReadonlySet<string> = new Set([
  'name',
  'description',
  'when_to_use',
  'tools',
  'disallowed_tools',
  'permission_mode',
  'model',
  'max_turns',
  'background',
  'initial_prompt',
  'metadata',
]);

/** Skills, agents and commands of a Claude plugin as our files. */
export class ClaudeParts {
  readonly files = new Map<string, Uint8Array>();
  readonly personas: string[] = [];
  readonly skills: string[] = [];
  readonly notes: string[] = [];
  readonly #source: PackFiles;
  readonly #id: string;
  /** Names that nothing of this pack may have any more. */
  readonly #taken: Set<string>;
  readonly #tools = new Set<string>();

  constructor(
    source: PackFiles,
    { id, taken }: { readonly id: string; readonly taken: ReadonlySet<string> },
  ) {
    this.#source = source;
    this.#id = id;
    this.#taken = new Set(taken);
  }

  get isEmpty(): boolean {
    return this.personas.length + this.skills.length === 0;
  }

  get tools(): readonly string[] {
    return [...this.#tools].toSorted();
  }

  /** Folders with a `SKILL.md`: below `skills/`, those that the manifest names, and the pack itself. */
  takeSkills(named: readonly string[], onlyNamed: boolean): void {
    const roots = onlyNamed ? named : ['skills', ...named];
    const inRoots = [...this.#source.keys()]
      .filter((path) => /(?:^|\/)SKILL\.md$/.test(path))
      .map((path) => path.slice(0, -'SKILL.md'.length).replace(/\/$/, ''));
    const folders = inRoots.filter(
      (folder) =>
        roots.some((root) => folder === root || folder.startsWith(root === '' ? '' : `${root}/`)) ||
        (folder === '' && !onlyNamed),
    );
    const bare =
      folders.length === 0 && !onlyNamed
        ? inRoots.filter((folder) => !folder.includes('/'))
        : folders;
    bare
      .filter((folder) => !bare.some((outer) => outer !== '' && folder.startsWith(`${outer}/`)))
      .forEach((folder) => this.#takeSkill(folder));
  }

  takeAgents(named: readonly string[]): void {
    for (const path of this.#markdown('agents', named)) {
      const { header, body, loose } = readForeign(textOf(this.#source.get(path)!));
      if (header['name'] === undefined && header['description'] === undefined) {
        continue;
      }
      const wanted = plainName(header['name'], lastPart(path));
      const name = this.#claim(wanted, 'persona');
      const description = oneText(header['description']) || name;
      const tools = names(header['tools']);
      tools.forEach((tool) => this.#tools.add(tool));
      const others = Object.fromEntries(
        Object.entries(header)
          .map(([key, value]) => [camelToSnake(key), value])
          .filter(([key]) => !notTaken.has(key as string)),
      );
      const turns = Number(header['maxTurns'] ?? header['max_turns'] ?? 0);
      this.files.set(
        `agents/${name}.md`,
        written(
          {
            name,
            description,
            when_to_use: oneText(header['when_to_use']) || description,
            tools: [...tools],
            disallowed_tools: [...names(header['disallowedTools'] ?? header['disallowed_tools'])],
            permission_mode: 'read-only',
            max_turns: Number.isInteger(turns) && turns >= 0 ? Math.min(turns, 100) : 0,
            ...others,
          },
          body,
        ),
      );
      this.personas.push(name);
      this.#noteLoose(loose, path);
    }
  }

  /** A command is what a person would type: here it is a skill. */
  takeCommands(named: readonly string[]): void {
    for (const path of this.#markdown('commands', named)) {
      const { header, body, loose } = readForeign(textOf(this.#source.get(path)!));
      const name = this.#claim(
        plainName(undefined, path.replace(/^commands\//, '').replaceAll('/', '-')),
        'skill',
      );
      const firstLine = body.split('\n').find((line) => line.trim() !== '') ?? name;
      const description = (
        oneText(header['description']) ||
        oneText(firstLine.replace(/^#+\s*/, '')) ||
        name
      ).slice(0, 1_024);
      this.#putSkill(name, { description, header, body });
      this.#noteLoose(loose, path);
      if (/!`[^`]+`/.test(body)) {
        this.notes.push(
          `${path} wants programs run while it is read (!\`…\`): they are not, and stay text`,
        );
      }
    }
  }

  #takeSkill(folder: string): void {
    const prefix = folder === '' ? '' : `${folder}/`;
    const path = `${prefix}SKILL.md`;
    const { header, body, loose } = readForeign(textOf(this.#source.get(path)!));
    const name = this.#claim(
      plainName(header['name'], folder === '' ? this.#id : lastPart(folder)),
      'skill',
    );
    const description = oneText(header['description']).slice(0, 1_024);
    if (!this.#putSkill(name, { description: description || name, header, body })) {
      return;
    }
    this.#noteLoose(loose, path);
    for (const [file, bytes] of this.#source) {
      const isOther = /^(?:\.claude-plugin|\.mcp\.json|agents|commands|hooks|skills)(?:\/|$)/.test(
        file,
      );
      if (file.startsWith(prefix) && file !== path && !(folder === '' && isOther)) {
        this.files.set(`skills/${name}/${file.slice(prefix.length)}`, bytes);
      }
    }
  }

  #putSkill(
    name: string,
    {
      description,
      header,
      body,
    }: { description: string; header: Readonly<Record<string, unknown>>; body: string },
  ): boolean {
    const tools = names(header['allowed-tools'] ?? header['allowedTools']);
    tools.forEach((tool) => this.#tools.add(tool));
    const others = Object.fromEntries(
      Object.entries(header).filter(
        ([key]) => !['name', 'description', 'allowed-tools', 'allowedTools'].includes(key),
      ),
    );
    const file = written({ name, description, 'allowed-tools': [...tools], ...others }, body);
    if (file.length > 64 * 1024) {
      this.notes.push(`the skill ${name} is left out: its SKILL.md is larger than 64 KiB`);
      return false;
    }
    this.files.set(`skills/${name}/SKILL.md`, file);
    this.skills.push(name);
    return true;
  }

  #claim(wanted: string, kind: string): string {
    const name = freeName(wanted, this.#id, this.#taken);
    if (name !== wanted) {
      this.notes.push(`its ${kind} ${wanted} is called ${name} here, since that name is taken`);
    }
    this.#taken.add(name);
    return name;
  }

  #noteLoose(loose: boolean, path: string): void {
    if (loose) {
      this.notes.push(`the header of ${path} is not YAML; it was read line by line`);
    }
  }

  /** Returns the texts of a folder and those that the manifest names. */
  #markdown(folder: string, named: readonly string[]): readonly string[] {
    const roots = [folder, ...named];
    return [...this.#source.keys()].filter(
      (path) =>
        /\.md$/i.test(path) &&
        !/(?:^|\/)README\.md$/i.test(path) &&
        roots.some((root) => path === root || path.startsWith(`${root}/`)),
    );
  }
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Returns a name that skills and personas may have. */
function plainName(given: unknown, otherwise: string): string {
  const text =
    typeof given === 'string' && given.trim() !== '' ? given : otherwise.replace(/\.md$/i, '');
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '');
  return plain === '' ? 'unnamed' : plain;
}

const oneText = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '';
