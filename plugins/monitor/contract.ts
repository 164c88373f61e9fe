import { defineExtensionPoint } from 'svc/sdk';

/**
 * Dashboards of other plugins: a file in the folder `dashboards/` of any plugin or pack, or an object of the same shape as
 * in such a file, given in a manifest's `contributes` or to `ctx.extend.contribute`. It has no schema of its own: a
 * dashboard that does not fit is shown as broken, and its plugin serves all the same.
 */
export const Dashboards = defineExtensionPoint<DashboardText | object>('monitor.dashboards');

/** A file as the host found it. */
export interface DashboardText {
  /** Relative to the plugin's folder. */
  readonly file: string;
  readonly text: string;
}
