/**
 * What workflows import and what keeps nothing of an execution, loaded once for all of a process: loaded for each
 * execution, as their own modules are, it took 2 ms and 300 KiB of each flow (docs/decisions/0488). A module that
 * remembers anything of the execution that it runs in must not be imported from here, not even by way of another.
 */
import '../../interpreter/host.js';
import '../../interpreter/interpreter.js';
import '../../interpreter/state.js';
import '../../interpreter/task-error.js';
import '../../interpreter/undo.js';
import '../../kernel/expression/json-schema-check.js';
import '../../kernel/problem.js';
import '../../kernel/time/date.js';
import '../../kernel/time/schedule-calendar.js';
import '../../messages/ageing/erasure.js';
import '../../messages/ageing/usage-archive.js';
import '../../messages/ageing/usage-drop.js';
import '../../messages/billing-run.js';
import '../../messages/cells/tenant-move.js';
import '../../messages/definitions/approval.js';
import '../../messages/definitions/definition-run.js';
import '../../messages/definitions/event.js';
import '../../messages/definitions/task.js';
import '../../messages/flow-batch.js';
import '../../messages/flow-run.js';
import '../../messages/payment-flow.js';
import '../../messages/sandbox/sandbox-clock.js';
import '../../messages/trace.js';
import '../../messages/usage/usage-audit.js';
import '../../messages/usage-workflow.js';
import '../../messages/webhook.js';
import '../../messages/workflow-signature.js';
