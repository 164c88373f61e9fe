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

/** A dashboard with everything that draws it. */
export interface DashboardView {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly {
    readonly name: string;
    readonly title?: string;
    readonly type: 'query' | 'custom' | 'interval' | 'text';
    readonly query?: string;
    readonly regex?: string;
    readonly values?: readonly string[];
    readonly default?: string;
    readonly multi?: boolean;
    readonly all?: boolean;
  }[];
  readonly panels: readonly {
    readonly title: string;
    readonly type: 'timeseries' | 'stat' | 'gauge' | 'table' | 'logs';
    readonly query: string;
    readonly legend: string;
    readonly unit: string;
    /** Rising; the value null stands for everything below the second. */
    readonly thresholds: readonly {
      readonly value: number | null;
      readonly state: 'ok' | 'warning' | 'critical';
    }[];
    /** Position on a grid of 24 columns. */
    readonly position: {
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
    };
  }[];
}

/** Dashboards as they are at the moment, for other plugins. */
export interface DashboardViews {
  /** Returns the dashboards that can be shown, sorted by uid. */
  all(): Promise<readonly DashboardView[]>;
}

export const DashboardViews = defineService<DashboardViews>('monitor.views');
