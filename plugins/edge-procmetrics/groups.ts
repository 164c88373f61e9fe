import { RE2JS, RE2JSException } from 're2js';
import { type CommandLines, isSame, plainName, type ProcessStat, redactArguments } from 'svc/probe';

import { errors } from './errors.ts';
import type { GroupSpec, ProcessSpec } from './spec.ts';

interface Group {
  readonly name: string;
  readonly comm: RE2JS | undefined;
  readonly cmdline: RE2JS | undefined;
}

interface Verdict {
  readonly process: ProcessStat;
  readonly group: string | undefined;
}

const longestName = 128;

/** Which group each process belongs to; asked once in the life of a process, and again when it becomes another program. */
export class Groups {
  readonly #groups: readonly Group[];
  readonly #others: ProcessSpec['others'];
  readonly #commandLines: CommandLines;
  #verdicts = new Map<number, Verdict>();

  constructor(
    { groups, others }: Pick<ProcessSpec, 'groups' | 'others'>,
    commandLines: CommandLines,
  ) {
    this.#groups = groups.map(({ name, comm, cmdline }: GroupSpec, i) => ({
      name,
      comm: compiled(comm, `groups[${i}].comm`),
      cmdline: compiled(cmdline, `groups[${i}].cmdline`),
    }));
    this.#others = others;
    this.#commandLines = commandLines;
  }

  /**
   * Returns the group name by process; processes of no group are absent. Ended ones are dropped.
   */
  async assign(processes: Iterable<ProcessStat>): Promise<ReadonlyMap<ProcessStat, string>> {
    const verdicts = new Map<number, Verdict>();
    const assigned = new Map<ProcessStat, string>();
    for (const process of processes) {
      const known = this.#verdicts.get(process.pid);
      const same =
        known !== undefined &&
        isSame(known.process, process) &&
        known.process.name === process.name;
      const group = same ? known.group : await this.#groupOf(process);
      verdicts.set(process.pid, { process, group });
      if (group !== undefined) {
        assigned.set(process, group);
      }
    }
    this.#verdicts = verdicts;
    return assigned;
  }

  async #groupOf(process: ProcessStat): Promise<string | undefined> {
    let line: string | undefined;
    for (const { name, comm, cmdline } of this.#groups) {
      if (comm !== undefined && !comm.matches(process.name)) {
        continue;
      }
      if (cmdline === undefined) {
        return named(name, process, []);
      }
      // What a pattern extracts from the arguments becomes a label: it leaves this host without
      // secrets.
      line ??= redactArguments(await this.#commandLines.of(process.pid)).join(' ');
      const matcher = cmdline.matcher(line);
      if (matcher.find()) {
        return named(
          name,
          process,
          Array.from({ length: cmdline.groupCount() }, (_, i) => matcher.group(i + 1) ?? ''),
        );
      }
    }
    return this.#others === 'comm' ? named('{comm}', process, []) : undefined;
  }
}

function named(template: string, process: ProcessStat, parts: readonly string[]): string {
  const name = template.replaceAll(/\{(comm|[1-9])\}/g, (_, key: string) =>
    key === 'comm' ? process.name : (parts[Number(key) - 1] ?? ''),
  );
  return plainName(name).trim().slice(0, longestName) || 'unnamed';
}

function compiled(pattern: string | undefined, field: string): RE2JS | undefined {
  try {
    return pattern === undefined ? undefined : RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) {
      throw errors.pattern({ field, cause: error.message }, { cause: error });
    }
    throw error;
  }
}
