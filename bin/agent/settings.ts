import type { SettingDeclaration } from '../../core/sdk/index.ts';
import { coreSettings } from '../../core/boot/settings/core-settings.ts';

/** Settings of an edge's process; its manager is known from its enrolment. */
export const edgeSettings: Readonly<Record<string, SettingDeclaration>> = Object.fromEntries(
  ['data.dir', 'outbound.allow_private', 'log.level', 'log.format'].map((key) => [
    key,
    coreSettings[key]!,
  ]),
);
