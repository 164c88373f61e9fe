import 'reflect-metadata';

import { serve } from '../../core/boot/serve.ts';

/** Serves the product in the folder that is given, as `svc serve` would. */
process.exitCode = await serve({ version: '0.0.1', root: process.argv[2]! }, process.env);
