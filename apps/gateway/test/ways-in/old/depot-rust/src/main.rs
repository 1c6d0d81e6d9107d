use std::time::Duration;

use grpc_graphql_gateway::{
    CacheConfig, Gateway, GrpcClient, HeaderPropagationConfig, PersistedQueryConfig, RateLimitMiddleware,
};

const DESCRIPTORS: &[u8] = include_bytes!("../depot_descriptor.bin");
const DEPOT_ADDR: &str = "127.0.0.1:50082";
const GATEWAY_ADDR: &str = "0.0.0.0:8890";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The depot is asked when it is needed.
    let depot = GrpcClient::builder(format!("http://{DEPOT_ADDR}")).connect_lazy()?;

    Gateway::builder()
        .with_descriptor_set_bytes(DESCRIPTORS)
        .add_grpc_client("depot.Depot", depot)
        .with_services(["depot.Depot"])
        .with_header_propagation(HeaderPropagationConfig::new().propagate("Authorization").propagate("x-tenant"))
        .add_middleware(RateLimitMiddleware::new(10, 5))
        .with_persisted_queries(PersistedQueryConfig { cache_size: 100, ttl: None })
        .with_response_cache(CacheConfig {
            max_size: 10_000,
            default_ttl: Duration::from_secs(60),
            stale_while_revalidate: Some(Duration::from_secs(30)),
            invalidate_on_mutation: true,
        })
        .with_query_depth_limit(12)
        .enable_health_checks()
        .enable_metrics()
        .with_waf(true)
        .serve(GATEWAY_ADDR)
        .await?;
    Ok(())
}
