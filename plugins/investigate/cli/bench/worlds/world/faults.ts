import type { Making } from './fault.ts';
import { groundFaults } from './ground-faults.ts';
import { serviceFaults } from './service-faults.ts';

export const faults: Readonly<Record<string, Making>> = { ...serviceFaults, ...groundFaults };
