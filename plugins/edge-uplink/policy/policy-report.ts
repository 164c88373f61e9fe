import type { Policy } from 'svc/contracts/edge-uplink';
import type { HostPolicy, PolicyEvent } from 'svc/edge-protocol';
import type { TunnelSession } from 'svc/tunnel';

import type { PolicyFile } from './policy-file.ts';

const maxProblem = 2_000;
const maxEntry = 1_000;

/** Report of the policy to the manager: whether it is valid at each connection and change, all of it on request. */
export class PolicyReport {
  readonly #file: PolicyFile;
  readonly #session: () => TunnelSession | undefined;
  #told: string | null | undefined;

  constructor(file: PolicyFile, session: () => TunnelSession | undefined) {
    this.#file = file;
    this.#session = session;
  }

  /** Reports whether the policy is valid over a new connection. */
  sendAgain(): void {
    this.#told = undefined;
    this.refresh();
  }

  refresh(): void {
    const session = this.#session();
    const problem = this.#file.problem?.slice(0, maxProblem) ?? null;
    if (session && problem !== this.#told) {
      this.#told = problem;
      session.emit('policy', { problem } satisfies PolicyEvent);
    }
  }

  /** Returns the policy in force, without passwords. */
  whole(): HostPolicy {
    const { path, problem, exists } = this.#file;
    const { tcp, webshell, skills, plugins, logs } = this.#file.current();
    return {
      file: path,
      source: exists ? 'file' : 'defaults',
      problem: problem?.slice(0, maxProblem) ?? null,
      tcp: cut(tcp),
      webshell,
      skills: {
        enabled: skills.enabled,
        paths: cut(skills.paths),
        measure: cut([...new Set(skills.measure)]),
        views: cut(skills.views),
        containers: cut(skills.containers),
        databases: cut(skills.databases.map(withoutPassword)),
        commands: cut(skills.commands.map(withoutArguments)),
        kubeconfig: skills.kubeconfig?.slice(0, maxEntry) ?? null,
        browser: skills.browser?.slice(0, maxEntry) ?? null,
        services: cut(skills.services),
        probes: cut(skills.probes),
      } satisfies Record<keyof Policy['skills'], unknown>,
      plugins: { allowed: cut(plugins.allowed) },
      logs: { paths: cut(logs.paths) },
    };
  }
}

const cut = (entries: readonly string[]): string[] =>
  entries.map((entry) => entry.slice(0, maxEntry));

/** An argument may be a password. */
const withoutArguments = (command: string): string => command.replace(/ .*$/s, ' …');

/** Masks passwords, which stand before the host or in the options after `?`. */
const withoutPassword = (database: string): string =>
  database.replace(/(:\/\/[^:/?#]*:).*@/s, '$1…@').replace(/\?.*$/s, '?…');
