import { defineEvent, defineService } from 'svc/sdk';

/** After the commit that set or removed a stored value; the value itself is read from the settings. */
export const SettingChanged = defineEvent<{ readonly key: string }>('setting.changed');

/** Values that administrators stored, for whoever takes away what they are for. */
export interface StoredSettings {
  forgetCategory(category: string): Promise<void>;
}

export const StoredSettings = defineService<StoredSettings>('setting.stored');
