import { defineEvent, defineExtensionPoint, type SettingState } from 'svc/sdk';

/** After the commit that set or removed a stored value; the value itself is read from the settings. */
export const SettingChanged = defineEvent<{ readonly key: string }>('setting.changed');

/** What a plugin was told by a route of its own, and keeps to where the setting leaves it room. */
export interface Launch {
  readonly value: unknown;
  /** Where it was told: `POST /api/v1/metricsdb/launch`. */
  readonly by: string;
}

export interface LaunchSource {
  /** What is in force in place of this value of the setting; undefined where the setting has the say. */
  over(setting: Pick<SettingState, 'value' | 'source'>): Launch | undefined;
}

/** Contributions are named by the key of their setting: `metricsdb.driver`. */
export const LaunchSources = defineExtensionPoint<LaunchSource>('setting.launches');
