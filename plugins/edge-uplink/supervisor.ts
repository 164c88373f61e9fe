import type { LocalPolicy, Policy } from 'svc/contracts/edge-uplink';
import type { PluginHealth } from 'svc/edge-protocol';
import {
  type Clock,
  type HealthAnswer,
  type Logger,
  messageOf,
  type PluginDirectory,
  type PluginStatus,
  timestamp,
} from 'svc/sdk';

import type { DesiredState, Wish } from './desired-state.ts';
import type { EdgePlugin, EdgePlugins } from './edge-plugins.ts';

export interface SupervisorParts {
  readonly plugins: PluginDirectory;
  readonly known: EdgePlugins;
  readonly desired: DesiredState;
  readonly policy: LocalPolicy & { readonly problem: string | undefined };
  readonly clock: Clock;
  readonly log: Logger;
  readonly later: (label: string, work: () => Promise<void>) => void;
  /** Called with changes of health to report; simultaneous ones come together. */
  readonly onHealth: (
    news: readonly { readonly name: string; readonly health: PluginHealth }[],
  ) => void;
}

const firstMs = 1_000;
const maxMs = 300_000;
/** Uptime after which past crashes no longer count. */
const steadyMs = 60_000;
const reportMs = 60_000;

interface Refusal {
  readonly reason: string;
  /** True if the owner of the machine decided so: the plugin is stopped then, and did not crash. */
  readonly intended: boolean;
}

interface Standing {
  restarts: number;
  /** Consecutive ones; decides how long the next wait is. */
  failures: number;
  retryAt: number | undefined;
  upSince: number | undefined;
  generation: number | undefined;
  reported: string | undefined;
  reportedAt: number;
  samples: number;
  lastError: string | null;
  /** Tasks that it cannot do while it runs, as it reports them. */
  trouble: string | undefined;
  /** Why it is off, though the manager wants it on. */
  refusal: Refusal | undefined;
  switching: boolean;
}

const states: Readonly<Record<string, PluginHealth['state']>> = {
  active: 'running',
  loading: 'starting',
  blocked: 'starting',
  discovered: 'starting',
  disabled: 'stopped',
  failed: 'crashed',
  invalid: 'crashed',
  quarantined: 'crashed',
  'unload-failed': 'stopping',
};

/**
 * Supervisor that aligns the plugins of this edge with what the manager wants and the owner allows,
 * and reports the health of each.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #standings = new Map<string, Standing>();
  #policy: Policy;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#policy = parts.policy.current();
  }

  counted(pluginId: string, items: number): void {
    for (const { id, name } of this.#parts.known.all().values()) {
      if (id === pluginId) {
        this.#standing(name).samples += items;
      }
    }
  }

  /** Takes what plugins say of themselves: one that runs and cannot do a part of its work is told so at the manager. */
  answered(answers: readonly HealthAnswer[]): void {
    for (const { id, name } of this.#parts.known.all().values()) {
      const sentences = answers
        .filter(({ plugin, ok, degraded }) => plugin === id && (!ok || degraded))
        .flatMap(({ detail }) => detail ?? []);
      this.#standing(name).trouble = sentences.length === 0 ? undefined : sentences.join('; ');
    }
  }

  /**
   * Enables and disables plugins as desired; reloads those in `changed`, since they have another
   * spec.
   */
  async reconcile(changed: readonly string[] = []): Promise<void> {
    for (const plugin of this.#parts.known.all().values()) {
      await this.#align(plugin, changed.includes(plugin.name));
    }
    this.look();
  }

  /**
   * Checks what comes without an event: an edited policy, crashed plugins to restart, changes to
   * report.
   */
  look(): void {
    const now = this.#parts.clock.now();
    const policy = this.#parts.policy.current();
    if (policy !== this.#policy) {
      this.#policy = policy;
      this.#parts.later('apply the policy of this machine', () => this.reconcile());
    }
    const news: { name: string; health: PluginHealth }[] = [];
    for (const plugin of this.#parts.known.all().values()) {
      const standing = this.#standing(plugin.name);
      const status = this.#parts.plugins.explain(plugin.id);
      this.#note(standing, status, now);
      this.#mend(plugin, standing, status, now);
      const health = this.#health(plugin, standing, status, now);
      const text = JSON.stringify([health.state, health.last_error, health.restart_count]);
      if (text !== standing.reported || now - standing.reportedAt >= reportMs) {
        standing.reported = text;
        standing.reportedAt = now;
        news.push({ name: plugin.name, health });
      }
    }
    if (news.length > 0) {
      this.#parts.onHealth(news);
    }
  }

  /** Reports everything again, to a manager that may have lost it. */
  reportAll(): void {
    this.#standings.forEach((standing) => (standing.reported = undefined));
    this.look();
  }

  status(): readonly { name: string; kind: string; enabled: boolean; health: PluginHealth }[] {
    const now = this.#parts.clock.now();
    return [...this.#parts.known.all().values()].map((plugin) => ({
      name: plugin.name,
      kind: plugin.kind,
      enabled: this.#wish(plugin).enabled,
      health: this.#health(
        plugin,
        this.#standing(plugin.name),
        this.#parts.plugins.explain(plugin.id),
        now,
      ),
    }));
  }

  /** Returns the spec of a plugin; one that does not match its schema is ignored. */
  specOf(pluginId: string): unknown {
    const plugin = [...this.#parts.known.all().values()].find(({ id }) => id === pluginId);
    return plugin?.filled(this.#wish(plugin).spec);
  }

  #wish({ name, default_enabled }: EdgePlugin): Wish {
    return this.#parts.desired.of(name) ?? { enabled: default_enabled, spec: {} };
  }

  async #align(plugin: EdgePlugin, changed: boolean): Promise<void> {
    const { plugins, log } = this.#parts;
    const standing = this.#standing(plugin.name);
    const wish = this.#wish(plugin);
    standing.refusal = wish.enabled ? this.#refusal(plugin, wish) : undefined;
    const on = wish.enabled && standing.refusal === undefined;
    const { state } = plugins.explain(plugin.id);
    standing.switching = true;
    try {
      if (!on && state !== 'disabled') {
        await plugins.disable(plugin.id, { cascade: true });
      } else if (on && state === 'disabled') {
        await plugins.enable(plugin.id);
      } else if (on && changed) {
        await plugins.reload(plugin.id);
      }
    } catch (error) {
      standing.lastError = messageOf(error);
      log.warn(
        { event: 'uplink.desired_not_applied', plugin: plugin.id, cause: messageOf(error) },
        'failed to apply the desired plugin state',
      );
    } finally {
      standing.switching = false;
    }
  }

  #refusal(plugin: EdgePlugin, wish: Wish): Refusal | undefined {
    const { allowed } = this.#parts.policy.current().plugins;
    if (!allowed.includes('*') && !allowed.includes(plugin.name)) {
      const reason =
        this.#parts.policy.problem === undefined
          ? 'this machine\'s policy does not allow it; the machine\'s owner can add it to "plugins.allowed" in policy.yaml'
          : 'policy.yaml of this machine is invalid; the plugin starts once it is corrected';
      return { reason, intended: true };
    }
    try {
      plugin.filled(wish.spec);
      return undefined;
    } catch (error) {
      return { reason: messageOf(error), intended: false };
    }
  }

  #note(standing: Standing, { state, generation, cause }: PluginStatus, now: number): void {
    if (state === 'active') {
      if (standing.generation !== generation) {
        standing.generation = generation;
        standing.upSince = now;
        standing.samples = 0;
      }
      if (standing.upSince !== undefined && now - standing.upSince >= steadyMs) {
        standing.failures = 0;
      }
      standing.retryAt = undefined;
      return;
    }
    standing.upSince = undefined;
    standing.lastError = states[state] === 'crashed' ? (cause ?? null) : standing.lastError;
  }

  #mend({ id }: EdgePlugin, standing: Standing, { state }: PluginStatus, now: number): void {
    if (states[state] !== 'crashed' || standing.switching) {
      return;
    }
    if (standing.retryAt === undefined) {
      standing.retryAt = now + Math.min(maxMs, firstMs * 2 ** Math.min(standing.failures, 20));
      standing.failures += 1;
    } else if (now >= standing.retryAt) {
      standing.retryAt = undefined;
      standing.restarts += 1;
      standing.switching = true;
      // A failure shows as the state of the plugin.
      void this.#parts.plugins
        .reload(id)
        .catch((error: unknown) => void (standing.lastError = messageOf(error)))
        .finally(() => (standing.switching = false));
    }
  }

  #health(
    plugin: EdgePlugin,
    standing: Standing,
    { state, since }: PluginStatus,
    now: number,
  ): PluginHealth {
    const wish = this.#wish(plugin);
    const refused = wish.enabled ? standing.refusal : undefined;
    const trouble = state === 'active' ? standing.trouble : undefined;
    return {
      state: refused === undefined ? (states[state] ?? 'starting') : stateOf(refused),
      last_error: (refused?.reason ?? trouble ?? standing.lastError)?.slice(0, 2_000) ?? null,
      restart_count: standing.restarts,
      started_at: state === 'active' ? timestamp(standing.upSince ?? since) : null,
      updated_at: timestamp(now),
      samples: standing.samples,
    };
  }

  #standing(name: string): Standing {
    let standing = this.#standings.get(name);
    if (!standing) {
      standing = {
        restarts: 0,
        failures: 0,
        retryAt: undefined,
        upSince: undefined,
        generation: undefined,
        reported: undefined,
        reportedAt: 0,
        samples: 0,
        lastError: null,
        trouble: undefined,
        refusal: undefined,
        switching: false,
      };
      this.#standings.set(name, standing);
    }
    return standing;
  }
}

const stateOf = ({ intended }: Refusal): PluginHealth['state'] =>
  intended ? 'stopped' : 'crashed';
