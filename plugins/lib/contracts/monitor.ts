import { defineExtensionPoint, defineService } from 'svc/sdk';

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

/** A dashboard, for whoever shows it elsewhere. */
export interface DashboardView {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly {
    readonly title: string;
    readonly type: string;
    readonly query: string;
  }[];
  /** Returns the dashboard as Grafana takes it, with the data sources of these uids. */
  grafana(sources: GrafanaSources): Readonly<Record<string, unknown>>;
}

/** Uids of data sources in Grafana. */
export interface GrafanaSources {
  readonly metrics: string;
  readonly logs: string;
}

/** Dashboards as they are at the moment, for other plugins. */
export interface DashboardViews {
  /** Returns the dashboards that can be shown, sorted by uid. */
  all(): Promise<readonly DashboardView[]>;
}

export const DashboardViews = defineService<DashboardViews>('monitor.views');
