import type { LocalPolicy } from 'svc/contracts/edge-uplink';

import { errors } from './errors.ts';

/** Names of the views of the policy, in words for who is refused. */
const views = {
  units: 'systemd units',
  containers: 'containers',
  packages: 'packages',
  kernel: 'the kernel log',
  cron: 'cron jobs',
  logins: 'logins',
  git: 'repository history',
  databases: 'databases',
  kubernetes: 'Kubernetes',
  sites: 'the sites of web servers',
} as const;

export type View = keyof typeof views;

/** Views that the owner of this machine allows, apart from files and the network. */
export class AllowedViews {
  readonly #policy: LocalPolicy;

  constructor(policy: LocalPolicy) {
    this.#policy = policy;
  }

  requireView(view: View): void {
    const allowed = this.#policy.current().skills.views;
    if (!allowed.includes(view) && !allowed.includes('*')) {
      throw errors.view_not_allowed({ view, what: views[view] });
    }
  }
}
