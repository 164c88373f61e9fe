import { platform } from 'node:os';

import type { ForeignPrograms } from 'svc/contracts/programs';
import { type Handle, messageOf, nearest, type Persona, type SettingsBoard } from 'svc/sdk';

import { checkedPrompt } from './initial-prompt.ts';

const platformOf: Readonly<Record<string, string>> = { windows: 'win32', macos: 'darwin' };

/** Part of the tool registry used here. */
export interface KnownTools {
  aliases(): ReadonlyMap<string, { readonly key: string }>;
}

export interface StrangeTool {
  readonly name: string;
  /** The nearest that there is. */
  readonly meant: string | undefined;
}

/**
 * Requirements of personas on this host: `metadata.os`, and programs and settings of
 * `metadata.requires`.
 */
export class Conditions {
  readonly #programs: Handle<ForeignPrograms>;
  readonly #board: SettingsBoard;
  readonly #tools: Handle<KnownTools>;

  constructor(programs: Handle<ForeignPrograms>, board: SettingsBoard, tools: Handle<KnownTools>) {
    this.#programs = programs;
    this.#board = board;
    this.#tools = tools;
  }

  /** One sentence for each that does not hold. */
  unmet(persona: Persona): readonly string[] {
    const { os, requires } = persona.metadata as {
      os?: readonly string[];
      requires?: { bins?: readonly string[]; config?: readonly string[] };
    };
    const here = platform();
    const elsewhere =
      os !== undefined && os.length > 0 && !os.some((name) => (platformOf[name] ?? name) === here);
    return [
      ...(elsewhere ? [`works on ${os.join(', ')}; svc runs on ${here}`] : []),
      ...(requires?.bins ?? [])
        .filter((name) => !this.#hasProgram(name))
        .map((name) => `needs the program ${name} on the machine of svc`),
      ...(requires?.config ?? [])
        .filter((key) => !this.#hasSetting(key))
        .map((key) => `needs the setting ${key}, which is empty or unknown`),
      ...promptTrouble(persona),
    ];
  }

  /**
   * Returns names of tools that nothing provides now: of a plugin, an edge or a server that is
   * down, or misspelt. They restrain nothing.
   */
  strangeTools({ tools, disallowed_tools: denied }: Persona): readonly StrangeTool[] {
    if (!this.#tools.available) {
      return [];
    }
    const known = [...this.#tools.get().aliases()].flatMap(([alias, { key }]) => [alias, key]);
    const names = new Set(known);
    return (
      [...new Set([...tools, ...denied])]
        .filter((name) => !names.has(name))
        // A tool of an edge that is away is no misspelling of another one.
        .map((name) => ({ name, meant: nearest(name, known, 2) }))
    );
  }

  #hasProgram(name: string): boolean {
    return this.#programs.available && this.#programs.get().find(name) !== undefined;
  }

  #hasSetting(key: string): boolean {
    const value = this.#board.find(key)?.value;
    return (
      value !== undefined &&
      value !== null &&
      value !== '' &&
      value !== false &&
      !(Array.isArray(value) && value.length === 0)
    );
  }
}

function promptTrouble(persona: Persona): readonly string[] {
  try {
    checkedPrompt(persona);
    return [];
  } catch (error) {
    return [`its initial_prompt cannot be filled in: ${messageOf(error)}`];
  }
}
