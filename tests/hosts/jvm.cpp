// A Java virtual machine in this process.
#include <jni.h>

#include <bit>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "runtime.hpp"

namespace hosts {
namespace {

class Jvm final : public Runtime {
  public:
    Jvm() {
        void* library = open_library(setting("HOSTS_JVM"));
        const auto create = reinterpret_cast<jint (*)(JavaVM**, void**, void*)>(find_symbol(library, "JNI_CreateJavaVM"));
        // -Xcheck:jni would hold the host to rules that are the JVM's alone, such as its signal handlers.
        std::string path = "-Djava.class.path=" + setting("HOSTS_CLASSPATH");
        std::string natives = "-Djava.library.path=" + setting("HOSTS_JAVA_NATIVES");
        std::string memory = "-Xmx128m";
        std::string collector = "-XX:+UseSerialGC";
        std::string counters = "-XX:-UsePerfData";
        std::vector<JavaVMOption> options;
        for (std::string* option : {&path, &natives, &memory, &collector, &counters}) options.push_back({option->data(), nullptr});
        JavaVMInitArgs arguments{JNI_VERSION_10, static_cast<jint>(options.size()), options.data(), JNI_FALSE};
        void* env = nullptr;
        if (create(&vm_, &env, &arguments) != JNI_OK) throw std::runtime_error("jvm: JNI_CreateJavaVM failed");
        env_ = static_cast<JNIEnv*>(env);
        type_ = env_->FindClass("dev/hurray/hosts/Stage");
        check("there is no class Stage");
        pass_ = method("pass", "(JJ)[J");
        make_ = method("make", "()[J");
        settle_ = method("settle", "()V");
    }

    [[nodiscard]] std::string name() const override { return "jvm"; }
    double pass(Pair& pair) override {
        const auto result = static_cast<jlongArray>(env_->CallStaticObjectMethod(type_, pass_, reinterpret_cast<jlong>(pair.list), reinterpret_cast<jlong>(pair.context)));
        check("pass");
        return taken(result, pair);
    }
    Pair make() override {
        Pair pair;
        const auto result = static_cast<jlongArray>(env_->CallStaticObjectMethod(type_, make_));
        check("make");
        taken(result, pair);
        return pair;
    }
    void settle() override {
        env_->CallStaticVoidMethod(type_, settle_);
        check("settle");
    }
    bool end() override {
        if (vm_->DestroyJavaVM() != JNI_OK) throw std::runtime_error("jvm: DestroyJavaVM failed");
        return true;
    }

  private:
    jmethodID method(const char* name, const char* signature) {
        jmethodID found = env_->GetStaticMethodID(type_, name, signature);
        check(name);
        return found;
    }
    void check(const char* what) {
        if (!env_->ExceptionCheck()) return;
        env_->ExceptionDescribe();
        throw std::runtime_error(std::string("jvm: ") + what);
    }
    // List, context and the bits of the sum.
    double taken(jlongArray result, Pair& pair) {
        jlong values[3] = {};
        env_->GetLongArrayRegion(result, 0, 3, values);
        env_->DeleteLocalRef(result);
        pair.list = reinterpret_cast<HurrayBufferList*>(values[0]);
        pair.context = reinterpret_cast<HurrayTensorContext*>(values[1]);
        return std::bit_cast<double>(values[2]);
    }

    JavaVM* vm_ = nullptr;
    JNIEnv* env_ = nullptr;
    jclass type_ = nullptr;
    jmethodID pass_ = nullptr;
    jmethodID make_ = nullptr;
    jmethodID settle_ = nullptr;
};

}  // namespace

std::unique_ptr<Runtime> start_jvm() { return std::make_unique<Jvm>(); }

}  // namespace hosts
