import { defineEvent, defineExtensionPoint, type SettingState } from 'svc/sdk';

/**
 * Fired after the commit that set or removed a stored value; the value itself is read from the
 * settings.
 */
export const SettingChanged = defineEvent<{ readonly key: string }>('setting.changed');

/**
 * Value that a plugin received through a route of its own; applies where the setting does not
 * override it.
 */
export interface Launch {
  readonly value: unknown;
  /** Origin of the value: `POST /api/v1/metricsdb/launch`. */
  readonly by: string;
}

export interface LaunchSource {
  /**
   * Returns the launch that is in force instead of this value of the setting; undefined if the
   * setting applies.
   */
  over(setting: Pick<SettingState, 'value' | 'source'>): Launch | undefined;
}

/** Contributions are named by the key of their setting: `metricsdb.driver`. */
export const LaunchSources = defineExtensionPoint<LaunchSource>('setting.launches', undefined, {
  methods: ['over'],
});
