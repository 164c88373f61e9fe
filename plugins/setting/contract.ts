import { defineEvent } from 'svc/sdk';

/** After the commit that set or removed a stored value; the value itself is read from the settings. */
export const SettingChanged = defineEvent<{ readonly key: string }>('setting.changed');
