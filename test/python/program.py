"""What a user of the generated client writes: an event is sent, simulated and found on an invoice,
without a cast. `test/python/client.test.ts` generates the package, checks the types and runs it."""

import datetime
import sys
from uuid import UUID

from durabill_client.api.invoices import get_invoice
from durabill_client.api.usage_events import simulate_usage
from durabill_client.api.usage_ingestion import ingest_usage
from durabill_client.client import AuthenticatedClient
from durabill_client.models import (
    IngestionBody,
    IngestionResult,
    Invoice,
    UsageEvent,
    UsageMessage,
    UsageMessageDimensions,
)

base_url, token, service_id, account, invoice_no = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=token)

dimensions = UsageMessageDimensions()
dimensions["api_calls"] = "250"
message = UsageMessage(
    external_transaction_id="from-python",
    service_id=UUID(service_id),
    event_timestamp=datetime.datetime(2026, 4, 2, 10, tzinfo=datetime.timezone.utc),
    billing_account_ref=account,
    dimensions=dimensions,
)
body = IngestionBody(message=message)

sent = ingest_usage.sync(client=client, body=body)
assert isinstance(sent, IngestionResult), sent
print(sent.status, str(sent.offset >= 0).lower())

simulated = simulate_usage.sync(client=client, body=body)
assert isinstance(simulated, UsageEvent), simulated
for transaction in simulated.rated_transactions:
    print(simulated.status, f"{transaction.amount:.2f}", transaction.currency)

invoice = get_invoice.sync(invoice_no, client=client)
assert isinstance(invoice, Invoice), invoice
print(invoice.invoice_no, f"{invoice.total:.2f}", invoice.items[0].description)
