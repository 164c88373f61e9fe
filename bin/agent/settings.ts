import type { SettingDeclaration } from '../../core/sdk/index.ts';
import { coreSettings } from '../../core/boot/settings/core-settings.ts';

/** What the process of an edge can be told; where its manager is it knows from its enrolment. */
export const edgeSettings: Readonly<Record<string, SettingDeclaration>> = Object.fromEntries(
  ['data.dir', 'outbound.allow_private', 'log.level', 'log.format'].map((key) => [
    key,
    coreSettings[key]!,
  ]),
);
