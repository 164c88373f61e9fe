import type { EdgeMethod } from 'svc/contracts/edge-uplink';
import { messageOf } from 'svc/sdk';
import { isRefusal } from 'svc/tunnel';

import type { CredentialStore } from './credentials.ts';
import type { DesiredState } from './desired-state.ts';
import { errors } from './errors.ts';
import { type Link, newSecret } from './link.ts';
import type { PolicyReport } from './policy/policy-report.ts';
import type { Supervisor } from './supervisor.ts';

/** Methods that the uplink itself answers. */
export const ownMethods = (parts: {
  readonly desired: DesiredState;
  readonly supervisor: Supervisor;
  readonly policyReport: PolicyReport;
  readonly credentials: CredentialStore;
  readonly link: Link;
  /** Asks plugins what they cannot do. */
  readonly askPlugins: () => Promise<void>;
  /** Runs work in the background: an answer must not wait for plugins. */
  readonly later: (label: string, work: () => Promise<void>) => void;
}): readonly EdgeMethod[] => [
  {
    name: 'plugin_status',
    mutating: false,
    async run() {
      await parts.askPlugins();
      return parts.supervisor.status();
    },
  },
  {
    name: 'host_policy',
    mutating: false,
    run: async () => parts.policyReport.whole(),
  },
  {
    name: 'config_apply',
    mutating: true,
    async run(params) {
      const changed = parts.desired.apply(params);
      parts.link.follow();
      parts.later('apply the configuration', () => parts.supervisor.reconcile(changed));
      return { hash: parts.desired.hash };
    },
  },
  {
    name: 'rotate_secret',
    mutating: true,
    async run(params, { signal }) {
      const next = parts.credentials.stage(newSecret(params));
      try {
        await parts.link.probe(next, signal);
      } catch (error) {
        // A lost connection proves nothing: the manager may have seen the proof, and the staged
        // secret is then the way back in.
        if (isRefusal(error) && error.lasting) {
          parts.credentials.discard();
        }
        throw errors.secret_not_proved({ cause: messageOf(error) }, { cause: error });
      }
      parts.credentials.take(next);
      return {};
    },
  },
];
