import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  redirect,
} from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { lazyPage, PageFault, readyPage } from './frame/lazy-page.tsx';
import { MissingPage } from './frame/missing-page.tsx';

type Search = Readonly<Record<string, unknown>>;

const textOf = (search: Search, name: string): string | undefined => {
  const value = search[name];
  return typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined;
};

const placeOf = (search: Search, name: string): number | undefined => {
  const place = search[name];
  return Number.isSafeInteger(place) && Number(place) > 0 ? Number(place) : undefined;
};

/**
 * The texts of these names that an address has. What is none is undefined and not left out: the router
 * lays what is valid over what the address says.
 */
const texts = <const N extends string>(search: Search, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, textOf(search, name)])) as { [K in N]?: string };

/** Which page of a list, or undefined for the first one: see `texts`. */
const places = <const N extends string>(search: Search, name: N) =>
  ({ [name]: placeOf(search, name) }) as { [K in N]?: number };

/** The search of a list: its texts, and which page of it. */
const listSearch =
  <const N extends string>(names: readonly N[]) =>
  (search: Search): { [K in N]?: string } & { page?: number } => ({
    ...texts(search, names),
    ...places(search, 'page'),
  });

/** The search of a list whose pages may be shorter: where this one begins. */
const placeSearch = (search: Search): { first?: number } => places(search, 'first');

const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Frame,
  notFoundComponent: MissingPage,
});
const at = { getParentRoute: () => root };

const start = createRoute({
  ...at,
  path: '/',
  beforeLoad: () => {
    redirect({ to: '/accounts', search: {}, replace: true, throw: true });
  },
});

const accountsRoute = createRoute({
  ...at,
  path: '/accounts',
  validateSearch: listSearch(['q']),
  ...readyPage(() => import('./accounts/accounts-page.tsx'), 'AccountsPage'),
});

const accountRoute = createRoute({
  ...at,
  path: '/accounts/$accountId',
  validateSearch: (search: Search) => texts(search, ['kind', 'from', 'to', 'pages']),
  component: lazyPage(() => import('./accounts/account-page.tsx'), 'AccountPage'),
});

const nextInvoiceRoute = createRoute({
  ...at,
  path: '/accounts/$accountId/next-invoice',
  component: lazyPage(() => import('./accounts/next-invoice-page.tsx'), 'NextInvoicePage'),
});

const tryEmbedRoute = createRoute({
  ...at,
  path: '/accounts/$accountId/embed',
  validateSearch: (search: Search) => texts(search, ['language', 'theme', 'accent', 'page']),
  component: lazyPage(() => import('./accounts/try-embed-page.tsx'), 'TryEmbedPage'),
});

const invoicesRoute = createRoute({
  ...at,
  path: '/invoices',
  validateSearch: listSearch([
    'q',
    'fromDate',
    'toDate',
    'periodFromDate',
    'periodToDate',
    'status',
    'accountId',
    'billingRunId',
  ]),
  ...readyPage(() => import('./invoices/invoices-page.tsx'), 'InvoicesPage'),
});

const invoiceRoute = createRoute({
  ...at,
  path: '/invoices/$invoiceId',
  component: lazyPage(() => import('./invoices/invoice-page.tsx'), 'InvoicePage'),
});

const billingRoute = createRoute({
  ...at,
  path: '/billing',
  validateSearch: listSearch(['from', 'to', 'accountId', 'kind']),
  ...readyPage(() => import('./billing/runs-page.tsx'), 'RunsPage'),
});

const billingRunRoute = createRoute({
  ...at,
  path: '/billing/$billingRunId',
  validateSearch: (search: Search) => texts(search, ['since']),
  component: lazyPage(() => import('./billing/run-page.tsx'), 'RunPage'),
});

const itemRoute = createRoute({
  ...at,
  path: '/invoices/$invoiceId/items/$itemId',
  validateSearch: listSearch([]),
  component: lazyPage(() => import('./invoices/item-page.tsx'), 'ItemPage'),
});

const receiptRoute = createRoute({
  ...at,
  path: '/receipts/$eventId',
  validateSearch: (search: Search) => texts(search, ['invoice', 'item']),
  component: lazyPage(() => import('./receipts/receipt-page.tsx'), 'ReceiptPage'),
});

const usageRoute = createRoute({
  ...at,
  path: '/usage',
  validateSearch: (search: Search) =>
    texts(search, ['from', 'to', 'bucket', 'groupBy', 'dimension', 'account', 'service', 'show']),
  ...readyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
});

const eventsRoute = createRoute({
  ...at,
  path: '/usage/events',
  validateSearch: listSearch([
    'status',
    'code',
    'externalTransactionId',
    'from',
    'to',
    'accountId',
    'serviceId',
  ]),
  ...readyPage(() => import('./usage/events-page.tsx'), 'EventsPage'),
});

const correctionsRoute = createRoute({
  ...at,
  path: '/usage/corrections',
  validateSearch: listSearch(['eventId']),
  ...readyPage(() => import('./corrections/corrections-page.tsx'), 'CorrectionsPage'),
});

const correctionRoute = createRoute({
  ...at,
  path: '/usage/corrections/$correctionId',
  validateSearch: placeSearch,
  component: lazyPage(() => import('./corrections/correction-page.tsx'), 'CorrectionPage'),
});

const rateAgainRoute = createRoute({
  ...at,
  path: '/usage/rate-again',
  validateSearch: (search: Search) => texts(search, ['from', 'to', 'account', 'service']),
  component: lazyPage(() => import('./corrections/rate-again-page.tsx'), 'RateAgainPage'),
});

const reratingRoute = createRoute({
  ...at,
  path: '/usage/rate-again/$executionId',
  component: lazyPage(() => import('./corrections/rerating-page.tsx'), 'ReratingPage'),
});

const approvalsRoute = createRoute({
  ...at,
  path: '/approvals',
  validateSearch: listSearch(['status', 'kind']),
  ...readyPage(() => import('./approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

const approvalRoute = createRoute({
  ...at,
  path: '/approvals/$approvalId',
  validateSearch: (search: Search) => texts(search, ['pages']),
  component: lazyPage(() => import('./approvals/approval-page.tsx'), 'ApprovalPage'),
});

const workflowsRoute = createRoute({
  ...at,
  path: '/workflows',
  ...readyPage(() => import('./workflows/workflows-page.tsx'), 'WorkflowsPage'),
});

const newWorkflowRoute = createRoute({
  ...at,
  path: '/workflows/new',
  component: lazyPage(() => import('./workflows/new-workflow-page.tsx'), 'NewWorkflowPage'),
});

const workflowRoute = createRoute({
  ...at,
  path: '/workflows/$workflowId',
  validateSearch: listSearch(['status', 'version', 'account', 'again']),
  component: lazyPage(() => import('./workflows/workflow-page.tsx'), 'WorkflowPage'),
});

const executionRoute = createRoute({
  ...at,
  path: '/workflows/$workflowId/executions/$executionId',
  validateSearch: listSearch([]),
  component: lazyPage(() => import('./workflows/execution-page.tsx'), 'ExecutionPage'),
});

const webhooksRoute = createRoute({
  ...at,
  path: '/webhooks',
  ...readyPage(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const webhookRoute = createRoute({
  ...at,
  path: '/webhooks/$webhookId',
  validateSearch: listSearch(['status', 'event']),
  component: lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
});

const pricesRoute = createRoute({
  ...at,
  path: '/prices',
  // Its second list has pages of its own.
  validateSearch: (search: Search): { q?: string; page?: number; tried?: number } => ({
    ...listSearch(['q'])(search),
    ...places(search, 'tried'),
  }),
  ...readyPage(() => import('./prices/services-page.tsx'), 'ServicesPage'),
});

const serviceRoute = createRoute({
  ...at,
  path: '/prices/$serviceId',
  ...readyPage(() => import('./prices/service-page.tsx'), 'ServicePage'),
});

const trialRoute = createRoute({
  ...at,
  path: '/prices/tried/$repricingId',
  validateSearch: listSearch(['sort']),
  component: lazyPage(() => import('./prices/trial-page.tsx'), 'TrialPage'),
});

const triedChargesRoute = createRoute({
  ...at,
  path: '/prices/tried/$repricingId/accounts/$accountId',
  validateSearch: placeSearch,
  component: lazyPage(() => import('./prices/tried-charges-page.tsx'), 'TriedChargesPage'),
});

const auditRoute = createRoute({
  ...at,
  path: '/audit',
  validateSearch: listSearch(['entity', 'id', 'actor', 'from', 'to']),
  ...readyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const operationsRoute = createRoute({
  ...at,
  path: '/operations',
  ...readyPage(() => import('./operations/operations-page.tsx'), 'OperationsPage'),
});

const sessionsRoute = createRoute({
  ...at,
  path: '/sessions',
  validateSearch: listSearch([]),
  ...readyPage(() => import('./sessions/sessions-page.tsx'), 'SessionsPage'),
});

const keysRoute = createRoute({
  ...at,
  path: '/access-keys',
  validateSearch: listSearch([]),
  ...readyPage(() => import('./sessions/keys-page.tsx'), 'KeysPage'),
});

const routes = root.addChildren([
  start,
  accountsRoute,
  accountRoute,
  nextInvoiceRoute,
  tryEmbedRoute,
  invoicesRoute,
  invoiceRoute,
  itemRoute,
  billingRoute,
  billingRunRoute,
  receiptRoute,
  usageRoute,
  eventsRoute,
  correctionsRoute,
  correctionRoute,
  rateAgainRoute,
  reratingRoute,
  approvalsRoute,
  approvalRoute,
  workflowsRoute,
  newWorkflowRoute,
  workflowRoute,
  executionRoute,
  webhooksRoute,
  webhookRoute,
  pricesRoute,
  serviceRoute,
  trialRoute,
  triedChargesRoute,
  auditRoute,
  operationsRoute,
  sessionsRoute,
  keysRoute,
]);

/** The pages of the console, which keep what they read in `client`. */
export const openRouter = (client: QueryClient) =>
  createRouter({
    routeTree: routes,
    context: { client },
    basepath: '/console',
    defaultPreload: 'intent',
    // Another record is another page, whose title gets the focus.
    defaultRemountDeps: ({ params }) => params,
    scrollRestoration: true,
    defaultErrorComponent: PageFault,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>;
  }
}
