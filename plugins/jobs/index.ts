import { JobSources } from 'svc/jobs';
import { definePlugin } from 'svc/sdk';

import { Board } from './board.ts';
import { jobRoutes } from './job-routes.ts';

export default definePlugin({
  activate(ctx) {
    ctx.http.routes(jobRoutes(new Board(ctx.extend.open(JobSources), ctx.log)));
  },
});
